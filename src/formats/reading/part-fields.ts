/**
 * Splits a header section into its fields without changing an octet, and reads parameters of a
 * field. One character is one octet.
 */

/** `source`: the whole field, with its folds and without its last line end. */
export type PartField = {
  /** The name in lower case; '' for a line that is no field. */
  name: string
  source: string
  /** The value, unfolded and trimmed. */
  value: string
}

const FIELD = /^([!-9;-~]{1,80})[ \t]{0,8}:(.*)$/s

export function readPartFields(section: string): PartField[] {
  const sources = section.split(/\r?\n(?![ \t])/)
  return sources.map((source) => {
    const [, name = '', value = ''] = FIELD.exec(source) ?? []
    return { name: name.toLowerCase(), source, value: unfold(value) }
  })
}

export function findFields(fields: readonly PartField[], name: string): PartField[] {
  return fields.filter((field) => field.name === name)
}

/** `type/subtype` in lower case; undefined if the value begins with none. */
export function mediaType(value: string): string | undefined {
  const shape = /^[\s"]*([\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127})"?[ \t]*(?=;|\(|$|[ \t])/.exec(
    value,
  )
  return shape?.[1]?.toLowerCase()
}

/** A parameter in plain or in RFC 2231 form, its pieces joined; '' if the parameter is absent. */
export function readPartParameter(value: string, name: string): string {
  const found = new RegExp(
    `[;\\s]${name}(?:\\*(\\d{0,2})\\*?)?[ \\t]{0,9}=[ \\t]{0,9}(?:"((?:[^"\\\\]|\\\\.){0,400})"?|([^\\s";]{0,400}))`,
    'gi',
  )
  let joined = ''
  for (const [, number, quoted, bare] of value.matchAll(found)) {
    const piece = quoted?.replace(/\\(.)/g, '$1') ?? bare ?? ''
    if (number === undefined) return piece
    joined += number === '' || number === '0' ? piece.replace(/^[^']{0,40}'[^']{0,40}'/, '') : piece
  }
  return joined
}

function unfold(value: string): string {
  return value.replace(/\r?\n(?=[ \t])/g, '').trim()
}
