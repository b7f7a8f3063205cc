/**
 * Exports contacts as CSV (RFC 4180, UTF-8) page by page, without keeping sent pages in memory. Text
 * that a spreadsheet program would take for a formula is escaped (csv/cell.ts), and an exported file
 * can be imported again without loss.
 */
import { formatInstant } from '../../clock.ts'
import { and, sql } from '../../store/drizzle.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Base } from '../base.ts'
import { compileCondition } from '../conditions/compile.ts'
import type { Condition } from '../conditions/condition.ts'
import type { NumberedContact } from '../contacts/list/row.ts'
import type { ContactScope } from '../contacts/list/scope.ts'
import { walkContacts } from '../contacts/list/walk.ts'
import { contactScopeOf } from '../segments/contact-scope.ts'
import { loadSegment } from '../segments/get.ts'
import { writeText, writeValue } from './csv/cell.ts'
import { EXPORT_COLUMNS } from './csv/header.ts'
import { type PlacedCell, writeRecord, writeSparseRecord } from './csv/writer.ts'
import { type ExportSlots, whileExporting } from './export-slots.ts'

export type ExportQuery = {
  projectId: string
  subscribed?: boolean | undefined
  search?: string | undefined
  condition?: Condition | undefined
  segmentId?: string | undefined
  /** Starts with a byte order mark, which Excel needs to recognize UTF-8. */
  hasMark?: boolean | undefined
}

type Deps = Pick<Base, 'store' | 'now'> & { slots: ExportSlots }

const PAGE = 200
/** Milliseconds of writing in one turn of the event loop. */
const TURN_MS = 5
/** Characters after which a piece ends early: with many keys, each contact has many commas. */
const PIECE_CHARS = 1024 * 1024
const MARK = '\ufeff'

const listKeys = statement<{ key: string }>(
  () => sql`select distinct key from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 order by key`,
)

/**
 * Returns the file piece by piece. Keys that contacts receive during the export are not exported.
 * @throws AppError RATE_LIMIT_EXCEEDED without a free slot, before anything else; RESOURCE_NOT_FOUND
 *   for an unknown segment, BAD_REQUEST for an unknown segment in the condition
 */
export function exportContacts(deps: Deps, query: ExportQuery): Promise<AsyncIterable<Uint8Array>> {
  return whileExporting(deps.slots, query.projectId, async () => {
    const scope = await toScope(deps, query)
    const fields = await deps.store.scan.list(listKeys, { projectId: query.projectId })
    const keys = fields.map(({ key }) => key)
    return write(deps, { scope, keys, hasMark: query.hasMark ?? false })
  })
}

async function toScope(
  deps: Pick<Deps, 'store' | 'now'>,
  query: ExportQuery,
): Promise<ContactScope> {
  const { projectId, subscribed, search, condition, segmentId } = query
  const segment =
    segmentId === undefined
      ? undefined
      : await contactScopeOf(deps, await loadSegment(deps.store.read, { projectId, id: segmentId }))
  const filter = condition && (await compileCondition(deps, { projectId, condition }))
  return { projectId, subscribed, search, condition: and(segment?.condition, filter) }
}

type ExportFile = { scope: ContactScope; keys: readonly string[]; hasMark: boolean }
/** The position of each key among the columns of data. */
type Columns = ReadonlyMap<string, number>

async function* write(
  deps: Pick<Deps, 'store' | 'slots'>,
  { scope, keys, hasMark }: ExportFile,
): AsyncGenerator<Uint8Array> {
  const columns = new Map(keys.map((key, index) => [key, index]))
  const header = writeRecord([...EXPORT_COLUMNS, ...keys.map((key) => `data.${key}`)])
  yield Buffer.from((hasMark ? MARK : '') + header)
  for await (const page of walkContacts(deps, scope, { size: PAGE })) {
    yield* writePage(page, { columns, slots: deps.slots })
  }
}

async function* writePage(
  page: readonly NumberedContact[],
  { columns, slots }: { columns: Columns; slots: ExportSlots },
): AsyncGenerator<Uint8Array> {
  let text = ''
  let endsAt = 0
  for (const contact of page) {
    if (text === '') {
      await slots.nextTurn()
      endsAt = performance.now() + TURN_MS
    }
    text += writeContact(contact, columns)
    if (performance.now() < endsAt && text.length < PIECE_CHARS) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}

function writeContact(contact: NumberedContact, columns: Columns): string {
  const { id, address, subscribed, createdAt, updatedAt, data } = contact
  const own = [
    id,
    writeText(address),
    String(subscribed),
    formatInstant(createdAt),
    formatInstant(updatedAt),
  ].map((cell, at) => ({ at, cell }))
  const cells = [...own, ...placeData(data, columns)]
  return writeSparseRecord(cells, EXPORT_COLUMNS.length + columns.size)
}

function placeData(data: NumberedContact['data'], columns: Columns): PlacedCell[] {
  const cells: PlacedCell[] = []
  for (const [key, value] of Object.entries(data ?? {})) {
    const column = columns.get(key)
    if (column === undefined) continue
    cells.push({ at: EXPORT_COLUMNS.length + column, cell: writeValue(value) })
  }
  return cells.sort((one, other) => one.at - other.at)
}
