/** Reads the field by which a program says whether its message is a template. The field is not sent. */
import type { HeaderLine } from './headers.ts'

const FIELD = 'x-pillarbox-template'

/** Undefined without the field; a text is the reason for which the message is refused. */
export function readTemplateChoice(lines: readonly HeaderLine[]): boolean | undefined | string {
  const values = lines.filter(({ key }) => key === FIELD).map(({ line }) => valueIn(line))
  const [value, ...others] = values
  if (value === undefined) return undefined
  const isClear = others.every((other) => other === value)
  if (isClear && (value === 'yes' || value === 'no')) return value === 'yes'
  return 'The header field X-Pillarbox-Template must be yes or no'
}

function valueIn(line: string): string {
  return line
    .slice(line.indexOf(':') + 1)
    .trim()
    .toLowerCase()
}
