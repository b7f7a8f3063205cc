/** Passwords that cost a thousandth: tests of routes make and check hundreds of them. */
import crypto from 'node:crypto'
import { after, before } from 'node:test'

const { argon2 } = crypto

/** The least that argon2 takes, in KiB and passes. */
const LEAST = { memory: 8, passes: 1 }

const cheap: typeof argon2 = (algorithm, cost, done) =>
  argon2(algorithm, isOfToday(cost) ? { ...cost, ...LEAST } : cost, done)

/** For all tests of a file or suite. */
export function useCheapPasswords(): void {
  before(makePasswordsCheap)
  after(endCheapPasswords)
}

/** A hash with other parameters than today's is computed as it says. */
export function makePasswordsCheap(): void {
  Object.assign(crypto, { argon2: cheap })
}

export function endCheapPasswords(): void {
  Object.assign(crypto, { argon2 })
}

function isOfToday({ memory, passes }: { memory: number; passes: number }): boolean {
  return memory === 7_168 && passes === 5
}
