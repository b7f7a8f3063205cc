/** What a command line program has around it; tests bring their own. */
import type { Readable, Writable } from 'node:stream'

export type Terminal = {
  /** A keyboard when `isTTY`. */
  stdin: Readable & { isTTY?: boolean; setRawMode?(isRaw: boolean): unknown }
  stdout: Writable
  stderr: Writable
  env: NodeJS.ProcessEnv
  cwd: string
  signals: Signals
  /** The process does nothing but this one command. */
  isWholeProcess?: boolean
}

export type Signals = {
  on(signal: NodeJS.Signals, listener: () => void): unknown
  off(signal: NodeJS.Signals, listener: () => void): unknown
}

/** This process's own. */
export function processTerminal(): Terminal {
  const { stdin, stdout, stderr, env } = process
  stdout.on('error', ignoreClosedPipe)
  return { stdin, stdout, stderr, env, cwd: process.cwd(), signals: process, isWholeProcess: true }
}

/** Whoever read our output has seen enough, as `head` does. */
function ignoreClosedPipe(error: Error): void {
  if (!('code' in error && error.code === 'EPIPE')) throw error
}
