/**
 * The response of a WEBHOOK step as its output shows it: the value of a JSON text, else the text. A receiver
 * may answer with what it was sent: what the step's input hides is hidden here, too.
 */
import querystring from 'node:querystring'
import { isDeeperThan, parseJsonText } from '../../../../base/json-text.ts'
import { MASK } from '../graph/secret-headers.ts'

/** Deeper values stay text: they could not be written again. */
const MAX_DEPTH = 100
/** Shorter words occur by themselves. */
const MIN_SECRET_LENGTH = 8

/** `secrets`: the values of the headers that the input hides. */
export function parseResponse(body: Buffer, secrets: readonly string[] = []): unknown {
  const text = hide(body.toString('utf8').toWellFormed(), secrets)
  try {
    const value = parseJsonText(text)
    return isDeeperThan(value, MAX_DEPTH) ? text : value
  } catch {
    return text
  }
}

/** Hides whole values and what follows a scheme: `Bearer abc` is often sent back as `abc`. */
export function hide(text: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => [secret, secret.slice(secret.indexOf(' ') + 1)])
  const hidden = new Set(parts.filter(({ length }) => length >= MIN_SECRET_LENGTH))
  const longestFirst = [...hidden].sort((a, b) => b.length - a.length)
  return longestFirst.reduce((shown, part) => {
    const escaped = JSON.stringify(part).slice(1, -1)
    return shown.replaceAll(part, MASK).replaceAll(escaped, MASK)
  }, text)
}

/** A url that holds a hidden value in any encoding is shown without path and query. */
export function hideInUrl(href: string, secrets: readonly string[]): string {
  const decoded = [
    href,
    querystring.unescape(href),
    querystring.unescape(href.replaceAll('+', ' ')),
  ]
  const isHidden = decoded.some((text) => hide(text, secrets) !== text)
  return isHidden ? `${new URL(href).origin}/${MASK}` : href
}
