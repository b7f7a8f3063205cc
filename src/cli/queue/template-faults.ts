/** What was wrong with an email's templates when it was rendered: a field for each part. */
import type { Email } from '../../store/schema/messages.ts'

export function faultFields({ templateFaults }: Pick<Email, 'templateFaults'>) {
  const fields = (templateFaults ?? []).map(({ part, line, column, message }) => {
    const place = line === null ? '' : `line ${line}, column ${column}: `
    return [`fault in ${part}`, place + message] as const
  })
  return Object.fromEntries(fields)
}
