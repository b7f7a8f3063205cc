/** Why a connection is over, or never came to be. */
import { describeError } from '../../errors.ts'
import { printable } from './reply-parser.ts'

export type WireFailure = {
  kind: 'network' | 'closed' | 'timeout' | 'protocol' | 'cut'
  text: string
}

export function timedOut(what: string): WireFailure {
  return { kind: 'timeout', text: `timed out: ${what}` }
}

/** OpenSSL's own texts are full of its file names; its codes say the same. */
export function networkFailure(error: NodeJS.ErrnoException): WireFailure {
  const text = error.code?.startsWith('ERR_SSL') ? error.code : describeError(error)
  return { kind: 'network', text: printable(text, 300) }
}

/** We took the connection away from a server that had not said a word. */
export function cutFailure(afterMs: number): WireFailure {
  const seconds = (afterMs / 1_000).toFixed(1)
  return { kind: 'cut', text: `no greeting in ${seconds} s, and other mail needed the connection` }
}
