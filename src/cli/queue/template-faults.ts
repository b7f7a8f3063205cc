/** The faults of an email's templates at its rendering, one field for each part. */
import type { Email } from '../../store/schema/messages.ts'

export function faultFields({ templateFaults }: Pick<Email, 'templateFaults'>) {
  const fields = (templateFaults ?? []).map(({ part, line, column, message }) => {
    const place = line === null ? '' : `line ${line}, column ${column}: `
    return [`fault in ${part}`, place + message] as const
  })
  return Object.fromEntries(fields)
}
