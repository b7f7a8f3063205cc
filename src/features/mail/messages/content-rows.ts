/** SQL on the rows of `contents`: their octets, and the contents of a claimed batch. */
import { SMALL_CONTENT_BYTES } from '../../../outbound/composing/contents.ts'
import { listOf, octets } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { type Content, contents } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'

/** The columns that retention clears. */
const CLEARED_COLUMNS = ['body', 'text', 'attachments', 'recipient_fields'] as const

/**
 * SQL: the octets of a row without its chunks. SQLite finds the sizes in the head of the row,
 * without reading the texts.
 */
export const contentOctets = sql.join(
  CLEARED_COLUMNS.map((name) => sql`coalesce(${octets(sql.raw(name))}, 0)`),
  sql` + `,
)

const bytes = sql<number>`${contentOctets} + chunk_bytes`
const isSmall = sql`${bytes} <= ${SMALL_CONTENT_BYTES}`

/** Reads small contents with their texts, and large ones with their size only. */
export const listContents = statement((db) =>
  db
    .select({
      id: contents.id,
      subject: contents.subject,
      isText: contents.isText,
      isLiteral: contents.isLiteral,
      isShared: sql<boolean>`share_key is not null`.mapWith(Boolean),
      isCleared: sql<boolean>`body is null`.mapWith(Boolean),
      bytes,
      projectId: contents.projectId,
      body: sql<string | null>`case when ${isSmall} then body end`,
      text: sql<string | null>`case when ${isSmall} then text end`,
      attachments: sql<Content['attachments']>`case when ${isSmall} then attachments end`.mapWith(
        contents.attachments,
      ),
      recipientFields: sql<
        Content['recipientFields']
      >`case when ${isSmall} then recipient_fields end`.mapWith(contents.recipientFields),
    })
    .from(contents)
    .where(sql`id in ${listOf(parameter('ids'))}`),
)

export const findTexts = statement((db) =>
  db
    .select({
      body: contents.body,
      text: contents.text,
      attachments: contents.attachments,
      recipientFields: contents.recipientFields,
    })
    .from(contents)
    .where(eq(contents.id, parameter('id'))),
)
