import { createHash } from 'node:crypto'

/** 60 hexadecimal digits, the same for each seed. Those of two seeds do not have much in common. */
export function unlikeName(seed: number): string {
  return createHash('sha256').update(`${seed}`).digest('hex').slice(-60)
}
