/** The language of a reader of whom nothing is known but what the browser says (RFC 9110 12.5.4). */
import { type Language, matchLanguage } from '../../mail/languages.ts'

/** Of a header that was made to be long, the rest is not read. */
const MAX_LENGTH = 500

/** The best of ours for an `Accept-Language`; English when there is none. */
export function readerLanguage(acceptLanguage: string | undefined): Language {
  const wanted = (acceptLanguage ?? '').slice(0, MAX_LENGTH).split(',').map(readRange)
  const known = wanted
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight)
    .map(({ tag }) => matchLanguage(tag))
  return known.find((language) => language !== undefined) ?? 'en'
}

function readRange(range: string): { tag: string; weight: number } {
  const [tag = '', ...parameters] = range.split(';').map((part) => part.trim())
  const [, weight = '1'] = /^q=([01](?:\.\d{0,3})?)$/.exec(parameters.join(';')) ?? []
  return { tag, weight: Number(weight) }
}
