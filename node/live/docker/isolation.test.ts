import assert from 'node:assert/strict'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { type DockerFixture, dockerFixture, type Finished, runToEnd, skipWithoutDocker } from '#test/support/docker'
import { programOf, syscallExit } from '#test/support/tiny-elf'
import type { Execution, Executor } from '../../ports.ts'

const skip = await skipWithoutDocker()

/** What a hostile program finds when it looks around. Each script prints a line for each hole it found; a tight sandbox leaves stdout empty. */
describe('a task in its container', { skip }, () => {
  let fixture: DockerFixture
  let executor: Executor
  let inputs: Execution['inputs']
  before(async () => {
    fixture = await dockerFixture()
    executor = await fixture.executor()
    const path = join(fixture.folder, 'data')
    await mkdir(path)
    await writeFile(join(path, 'file'), 'precious')
    await chmod(join(path, 'file'), 0o666) // not the file's mode protects it
    await chmod(path, 0o777)
    inputs = [{ name: 'data', path }]
  })
  after(() => fixture.close())
  const shell = async (script: string): Promise<Finished> => runToEnd(executor, await fixture.execution(['sh', '-c', script], { inputs }))
  const holes = async (script: string): Promise<void> => {
    const { stdout, stderr, reason } = await shell(script)
    assert.equal(stdout, '', stderr)
    assert.equal(reason, 'exit')
  }

  it('has no network but its own loopback', async () => {
    const { stdout } = await shell(`
      ls /sys/class/net; ip -o addr 2>/dev/null | grep -v ' lo ' | grep -v '1: lo'; tail -n +3 /proc/net/dev | grep -v lo:; cat /proc/net/route | tail -n +2
      for a in 169.254.169.254 172.17.0.1 192.0.2.1 10.0.0.1; do wget -T 2 -q -O- http://$a/ 2>/dev/null && echo reached $a; done
      nslookup example.com >/dev/null 2>&1 && echo resolved
      nc -l -p 5000 -e true & sleep 0.2; nc 127.0.0.1 5000 </dev/null && echo loopback`)
    assert.equal(stdout, 'lo\nloopback\n')
  })

  it('cannot write outside /out and /tmp', async () => {
    await holes(`
      for d in / /bin /etc /in /in/data /proc /sys /sys/fs/cgroup /dev /var /root /proc/sys/kernel; do (touch $d/hole) 2>/dev/null && echo wrote $d; done
      (echo x >> /in/data/file) 2>/dev/null && echo appended; rm -f /in/data/file 2>/dev/null && echo removed; chmod 777 /in/data/file 2>/dev/null && echo chmod
      (echo x > /etc/passwd) 2>/dev/null && echo passwd; (echo c > /proc/sysrq-trigger) 2>/dev/null && echo sysrq
      (echo 1 > /proc/sys/kernel/panic) 2>/dev/null && echo panic; (echo x > /proc/1/comm) 2>/dev/null && [ "$(cat /proc/1/comm)" = x ] && echo renamed init
      mount -t tmpfs none /in 2>/dev/null && echo mount; mount -o remount,rw / 2>/dev/null && echo remount; umount /in/data 2>/dev/null && echo umount
      touch /out/ok /tmp/ok || echo cannot even write its own`)
  })

  it('is nobody, stays nobody, and holds no capability', async () => {
    const { stdout } = await shell(
      'id -u; id -G; grep -E "^(Cap|NoNewPrivs|Seccomp:)" /proc/self/status | tr -d "\\t"; su -c id 2>/dev/null; chroot / id 2>/dev/null; mknod /tmp/d b 8 0 2>/dev/null && echo mknod; hostname x 2>/dev/null && echo hostname; kill -9 1; echo $?'
    )
    const [uid = '', groups = '', ...rest] = stdout.trim().split('\n')
    assert.notEqual(uid, '0')
    assert.equal(groups, uid)
    assert.deepEqual(rest, [
      'CapInh:0000000000000000',
      'CapPrm:0000000000000000',
      'CapEff:0000000000000000',
      'CapBnd:0000000000000000',
      'CapAmb:0000000000000000',
      'NoNewPrivs:1',
      'Seccomp:2',
      '0'
    ])
  })

  it('gains nothing from a set-uid program', async () => {
    await holes('cp /bin/busybox /tmp/sh && chmod 6755 /tmp/sh && [ "$(/tmp/sh id -u)" = 0 ] && echo root; true')
  })

  it('sees no host: no devices, no processes, no engine', async () => {
    await holes(`
      for f in /dev/mem /dev/kmsg /dev/sda /dev/vda /dev/kvm /dev/fuse /var/run/docker.sock /run/docker.sock; do [ -e $f ] && echo $f; done
      head -c 1 /proc/kcore 2>/dev/null | grep -q . && echo kcore; ls /sys/firmware 2>/dev/null; cat /proc/keys /proc/timer_list 2>/dev/null
      [ "$(ls -d /proc/[0-9]* | wc -l)" -lt 8 ] || echo sees other processes
      [ "$(hostname)" = task ] || echo hostname $(hostname); env | grep -E 'docker|DOCKER'; true`)
  })

  it('has the same environment everywhere', async () => {
    const { stdout } = await shell('pwd; umask; echo $HOME $TZ $LANG $SOURCE_DATE_EPOCH; date +%Z; ulimit -c')
    assert.equal(stdout, '/out\n0022\n/tmp UTC C.UTF-8 315532800\nUTC\n0\n')
  })

  it('gets EPERM for the calls that lead out of a sandbox', { skip: process.arch !== 'x64' && 'the probe is a program for x86_64' }, async () => {
    const EPERM = 1
    const calls: readonly (readonly [string, readonly number[]])[] = [
      ['socket of AF_VSOCK', [41, 40, 1, 0]],
      ['socket of AF_PACKET', [41, 17, 3, 0]],
      ['socket of AF_ALG', [41, 38, 5, 0]],
      ['raw socket', [41, 2, 3, 1]],
      ['io_uring_setup', [425, 1, 0]],
      ['unshare of a user namespace', [272, 0x10000000]],
      ['clone into a user namespace', [56, 0x10000011, 0]],
      ['bpf', [321, 0, 0, 0]],
      ['keyctl', [250, 0, -3]],
      ['userfaultfd', [323, 0]],
      ['ptrace', [101, 0, 0, 0]],
      ['mount', [165, 0, 0, 0]],
      ['setns', [308, 0, 0]],
      ['perf_event_open', [298, 0, 0, -1, -1]],
      ['open_by_handle_at', [304, 0, 0, 0]],
      ['process_vm_readv', [310, 1, 0, 0]]
    ]
    const path = join(fixture.folder, 'calls')
    await mkdir(path)
    for (const [index, [, call]] of calls.entries()) await writeFile(join(path, String(index)), programOf(call), { mode: 0o755 })
    await writeFile(join(path, 'control'), programOf([41, 1, 1, 0]), { mode: 0o755 }) // a Unix socket is allowed
    const execution = await fixture.execution(['sh', '-c', 'for i in $(seq 0 15) control; do /in/calls/$i; echo $?; done'], {
      inputs: [{ name: 'calls', path }]
    })
    const exits = (await runToEnd(executor, execution)).stdout.trim().split('\n').map(Number)
    assert.deepEqual(
      calls.map(([name], index) => [name, exits[index]]),
      calls.map(([name]) => [name, syscallExit(-EPERM)])
    )
    assert.notEqual(exits[calls.length], syscallExit(-EPERM))
  })
})
