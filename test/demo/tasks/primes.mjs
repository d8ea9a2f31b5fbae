/**
 * The map step of the count: `node primes.mjs LINES OUT`. Each line of LINES is a range, `first last`, both included; the number of
 * primes in all of them is written to OUT/count. Each number is tested twice, by trial division and by Miller and Rabin's test
 * with bases that leave no doubt below 3,215,031,751; the two must agree.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const BASES = [2n, 3n, 5n, 7n]
const [lines, folder] = process.argv.slice(2)

function byDivision(n) {
  if (n < 2n) return false
  for (let divisor = 2n; divisor * divisor <= n; divisor++) if (n % divisor === 0n) return false
  return true
}

function power(base, exponent, modulus) {
  let result = 1n
  for (let square = base % modulus, rest = exponent; rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

function byMillerRabin(n) {
  if (n < 2n) return false
  let odd = n - 1n
  let twos = 0
  for (; (odd & 1n) === 0n; odd >>= 1n) twos++
  return BASES.every((base) => {
    if (n % base === 0n) return n === base
    let value = power(base, odd, n)
    if (value === 1n || value === n - 1n) return true
    for (let round = 1; round < twos; round++) {
      value = (value * value) % n
      if (value === n - 1n) return true
    }
    return false
  })
}

let count = 0
for (const line of readFileSync(lines, 'utf8').trim().split('\n')) {
  const [first, last] = line.split(' ').map(BigInt)
  const step = (last - first) / 5n + 1n
  let found = 0
  for (let n = first; n <= last; n++) {
    const prime = byDivision(n)
    if (prime !== byMillerRabin(n)) throw new Error(`the two tests disagree about ${n}`)
    if (prime) found++
    if ((n - first + 1n) % step === 0n || n === last) console.log(`${found} primes between ${first} and ${n}`)
  }
  count += found
}
writeFileSync(join(folder, 'count'), `${count}\n`)
