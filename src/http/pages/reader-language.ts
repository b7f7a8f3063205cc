/** The language of an unknown reader, by the browser's `Accept-Language` (RFC 9110, section 12.5.4). */
import { type Language, matchLanguage } from '../../texts/languages.ts'

/** The rest of a longer header is ignored. */
const MAX_LENGTH = 500

/** The best supported language for an `Accept-Language`; English if none matches. */
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
