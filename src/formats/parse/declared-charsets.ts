/**
 * Finds the charsets that a message declares. Its text without a declared charset is probably in
 * one of them.
 */
import { MAX_HEADER_BYTES } from '../limits.ts'
import { isKnownCharset } from './charset.ts'

/** Charsets other than UTF-8 and ASCII, in the order in which the message names them. */
export function listCharsets(raw: Buffer): string[] {
  const begin = raw.toString('latin1', 0, MAX_HEADER_BYTES)
  const labels = [
    ...begin.matchAll(
      /charset\*?[ \t]{0,9}=[ \t]{0,9}["']?([\w.:-]{2,40})|=\?([\w.:-]{2,40})\?[bq]\?/gi,
    ),
  ]
  const names = labels
    .slice(0, 100)
    .map(([, declared, word]) => (declared ?? word ?? '').toLowerCase())
  const others = names.filter((name) => isKnownCharset(name) && !/^utf-?8$/.test(name))
  return [...new Set(others)].slice(0, 3)
}
