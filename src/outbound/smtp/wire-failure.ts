/** Why a connection ended or could not be made. */
import { describeError } from '../../errors.ts'
import { printable } from './reply-parser.ts'

export type WireFailure = {
  kind: 'network' | 'closed' | 'timeout' | 'protocol' | 'cut'
  text: string
}

export function timedOut(what: string): WireFailure {
  return { kind: 'timeout', text: `timed out: ${what}` }
}

/** OpenSSL's texts are full of its file names; its error codes say the same. */
export function networkFailure(error: NodeJS.ErrnoException): WireFailure {
  const text = error.code?.startsWith('ERR_SSL') ? error.code : describeError(error)
  return { kind: 'network', text: printable(text, 300) }
}

/** We ended a session that had no greeting yet, because other mail needed its connection. */
export function cutFailure(afterMs: number): WireFailure {
  const seconds = (afterMs / 1_000).toFixed(1)
  return { kind: 'cut', text: `no greeting in ${seconds} s, and other mail needed the connection` }
}
