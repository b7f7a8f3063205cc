/** An independent reader of header sections, written from the RFCs without the code under test. */
type Field = { name: string; value: string; lines: string[] }

/** A message as a string with one character per octet. */
export function toBuffer({ octets }: { octets: string }): Buffer {
  return Buffer.from(octets, 'latin1')
}

/** The fields of a header section, unfolded (RFC 5322 section 2.2.3). */
export function readFields(message: Buffer): Field[] {
  const section = message.subarray(0, message.indexOf('\r\n\r\n')).toString('utf8')
  return section.split(/\r\n(?![ \t])/).map((field) => {
    const unfolded = field.replaceAll('\r\n', '')
    const colon = unfolded.indexOf(':')
    return {
      name: unfolded.slice(0, colon),
      value: unfolded.slice(colon + 1).replace(/^[ \t]+|[ \t]+$/g, ''),
      lines: field.split('\r\n'),
    }
  })
}

export function readField(message: Buffer, name: string): string | undefined {
  return readFields(message).find((field) => field.name === name)?.value
}

/** Decodes encoded words one by one (RFC 2047) and drops the space between two of them. */
export function decodeWords(value: string): string {
  return value
    .replace(/(\?=)[ \t]+(?==\?UTF-8\?[QB]\?)/g, '$1')
    .replace(/=\?UTF-8\?([QB])\?([^? \t]*)\?=/g, (_, kind: string, payload: string) =>
      kind === 'B' ? strictUtf8(Buffer.from(payload, 'base64')) : strictUtf8(qOctets(payload)),
    )
}

/** @throws if the octets are not whole characters */
function strictUtf8(octets: Buffer): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(octets)
}

function qOctets(payload: string): Buffer {
  const unescaped = payload
    .replaceAll('_', ' ')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return Buffer.from(unescaped, 'latin1')
}
