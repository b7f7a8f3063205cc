import { writeSync } from 'node:fs'

const WAIT_MS = 1

/**
 * Prints a line on stdout before it returns, so that a kill loses none. A full pipe, whose reader is busy,
 * refuses octets (EAGAIN): the process waits.
 */
export function printLine(line: string): void {
  let rest = Buffer.from(`${line}\n`)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS)
    }
  }
}
