/** What was wrong with an email's templates when it was rendered: a field for each part. */
import type { Email } from '../../features/messages/queue/operate.ts'

export function faultFields({ templateFaults }: Pick<Email, 'templateFaults'>) {
  const fields = (templateFaults ?? []).map(({ part, line, column, message }) => {
    const place = line === null ? '' : `line ${line}, column ${column}: `
    return [`fault in ${part}`, place + message] as const
  })
  return Object.fromEntries(fields)
}
