/**
 * Contacts as a CSV (RFC 4180, UTF-8), page by page: nothing is kept of what has been sent. Text
 * that a spreadsheet program would run is written so that it does not (cell.ts), and what is
 * exported can be imported again as it was.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { formatInstant } from '../../clock.ts'
import { and, sql } from '../../store/drizzle.ts'
import { parameter, statement } from '../../store/store.ts'
import { compileCondition } from '../conditions/compile.ts'
import type { Condition } from '../conditions/condition.ts'
import { type ContactScope, type NumberedContact, walkContacts } from '../contacts/walk.ts'
import type { Core } from '../core.ts'
import { loadSegment } from '../segments/get.ts'
import { scopeOfSegment } from '../segments/scope.ts'
import { writeText, writeValue } from './cell.ts'
import { writeRecord } from './csv-writer.ts'
import { EXPORT_COLUMNS } from './header.ts'

export type ExportQuery = {
  projectId: string
  subscribed?: boolean | undefined
  search?: string | undefined
  condition?: Condition | undefined
  segmentId?: string | undefined
  /** Begins with a byte order mark, without which Excel takes UTF-8 for something else. */
  hasMark?: boolean | undefined
}

type Deps = Pick<Core, 'store' | 'now'>

const PAGE = 200
/** How long contacts are written before others have their turn: there may be any number of keys. */
const TURN_MS = 10
const MARK = '\ufeff'

const listKeys = statement<{ key: string }>(
  () => sql`select distinct key from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 order by key`,
)

/**
 * The file, piece by piece; those whose data gets new keys meanwhile are exported without them.
 * @throws AppError RESOURCE_NOT_FOUND for the segment, BAD_REQUEST for a segment of the condition
 */
export async function exportContacts(
  deps: Deps,
  query: ExportQuery,
): Promise<AsyncIterable<Uint8Array>> {
  const scope = await toScope(deps, query)
  const fields = await deps.store.scan.list(listKeys, { projectId: query.projectId })
  const keys = fields.map(({ key }) => key)
  return write(deps, { scope, keys, hasMark: query.hasMark ?? false })
}

async function toScope(deps: Deps, query: ExportQuery): Promise<ContactScope> {
  const { projectId, subscribed, search, condition, segmentId } = query
  const segment =
    segmentId === undefined
      ? undefined
      : await scopeOfSegment(deps, await loadSegment(deps.store.read, { projectId, id: segmentId }))
  const filter = condition && (await compileCondition(deps, { projectId, condition }))
  return { projectId, subscribed, search, condition: and(segment?.condition, filter) }
}

type File = { scope: ContactScope; keys: readonly string[]; hasMark: boolean }

async function* write(
  deps: Pick<Deps, 'store'>,
  { scope, keys, hasMark }: File,
): AsyncGenerator<Uint8Array> {
  const header = writeRecord([...EXPORT_COLUMNS, ...keys.map((key) => `data.${key}`)])
  yield Buffer.from((hasMark ? MARK : '') + header)
  for await (const page of walkContacts(deps, scope, { size: PAGE })) {
    yield* writePage(page, keys)
  }
}

async function* writePage(
  page: readonly NumberedContact[],
  keys: readonly string[],
): AsyncGenerator<Uint8Array> {
  let text = ''
  let endsAt = performance.now() + TURN_MS
  for (const contact of page) {
    text += writeContact(contact, keys)
    if (performance.now() < endsAt) continue
    yield Buffer.from(text)
    text = ''
    await turn()
    endsAt = performance.now() + TURN_MS
  }
  if (text !== '') yield Buffer.from(text)
}

function writeContact(contact: NumberedContact, keys: readonly string[]): string {
  const { id, email, subscribed, createdAt, updatedAt } = contact
  const data = new Map(Object.entries(contact.data ?? {}))
  return writeRecord([
    id,
    writeText(email),
    String(subscribed),
    formatInstant(createdAt),
    formatInstant(updatedAt),
    ...keys.map((key) => writeValue(data.get(key))),
  ])
}
