/** Standard streams, environment and signals of a command; tests supply their own. */
import type { Readable, Writable } from 'node:stream'

export type Terminal = {
  /** A terminal when `isTTY`. */
  stdin: Readable & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
  stdout: Writable & { isTTY?: boolean }
  stderr: Writable
  env: NodeJS.ProcessEnv
  cwd: string
  signals: Signals
  /** The process runs this one command and nothing else. */
  isWholeProcess?: boolean
}

export type Signals = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}

/** The terminal of this process. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  stdout.on('error', ignoreClosedPipe)
  return { stdin, stdout, stderr, env, cwd: process.cwd(), signals: process, isWholeProcess: true }
}

/** A reader such as `head` may close the pipe early. */
function ignoreClosedPipe(error: Error): void {
  if (!('code' in error && error.code === 'EPIPE')) throw error
}
