/** SQL: the octets of a row of `contents`, without its chunks; from the head of the row. */
import { octets } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'

/** The columns that retention clears. */
const COLUMNS = ['body', 'text', 'attachments', 'recipient_fields'] as const

export const contentOctets = sql.join(
  COLUMNS.map((name) => sql`coalesce(${octets(sql.raw(name))}, 0)`),
  sql` + `,
)
