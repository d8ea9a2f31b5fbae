export const WIDTH: number
export const HEIGHT: number
export function tileLines(): string[]
