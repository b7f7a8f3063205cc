/** Rewrites the fields of a header section that mailparser would read wrongly. */
import { decodeWords, mapEncodedWords } from '../parse/decode-text.ts'
import { isCertainlyAscii } from '../parse/seven-bit.ts'
import { type Mending, utf8Octets } from './mending.ts'
import { findFields, type PartField } from './part-fields.ts'

/** Fields whose encoded words mailparser decodes by itself. */
const DECODED = /^(?:from|to|cc|bcc|sender|reply-to|content-type|content-disposition)$/
/** Words that it decodes rightly: one by one, in a charset without states. */
const SAFE_WORD = /^=\?(?:utf-8|us-ascii)\?[bq]\?[!->@-~]*\?=$/i

/**
 * `type`: the value of the only Content-Type field; undefined = as given. One character per octet.
 */
export function mendFields(
  mending: Mending,
  fields: readonly PartField[],
  { type }: { type: string | undefined },
): string {
  const encoding = chooseEncoding(fields)
  let isTypeWritten = false
  const lines = fields.flatMap((field) => {
    if (field.name === 'content-type' && type !== undefined) {
      if (isTypeWritten) return []
      isTypeWritten = true
      return [mendField(mending, { ...field, source: `Content-Type: ${type}` })]
    }
    if (field.name === 'content-transfer-encoding' && encoding !== undefined) {
      return field === encoding ? [field.source] : []
    }
    return [mendField(mending, field)]
  })
  if (type !== undefined && !isTypeWritten) lines.push(`Content-Type: ${type}`)
  return lines.join('\r\n')
}

/** Of several encodings the strongest: undecoded octets in a decoder stay, the reverse is unreadable. */
function chooseEncoding(fields: readonly PartField[]): PartField | undefined {
  const given = findFields(fields, 'content-transfer-encoding')
  if (given.length < 2) return undefined
  return given.find(({ value }) => /^(?:base64|quoted-printable)\b/i.test(value)) ?? given[0]
}

function mendField(mending: Mending, { name, source }: PartField): string {
  const { guesses, damage } = mending
  const part = source.slice(0, name.length) || 'Header field'
  const between = (text: string) =>
    isCertainlyAscii(text) ? text : utf8Octets(text, { guesses, damage, part })
  if (!source.includes('=?')) return between(source)
  const isDecoded = DECODED.test(name)
  return mapEncodedWords(source, {
    words: (run) =>
      !isDecoded || SAFE_WORD.test(run)
        ? run
        : encodeWord(decodeWords(run, { guesses, damage, part }), run),
    between,
  })
}

/** One word in UTF-8, in the form of the first one: mailparser looks for addresses in base64 only. */
function encodeWord(text: string, words: string): string {
  const octets = Buffer.from(text)
  if (/^=\?[^?]*\?b/i.test(words)) return `=?utf-8?B?${octets.toString('base64')}?=`
  const escaped = octets.toString('hex').toUpperCase().replace(/../g, '=$&')
  return `=?utf-8?Q?${escaped}?=`
}
