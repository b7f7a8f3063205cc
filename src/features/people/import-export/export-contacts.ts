/**
 * Exports contacts as CSV (RFC 4180, UTF-8) page by page, without keeping sent pages in memory. The data of
 * contacts has one column for each key that contacts of the project have. Text that a spreadsheet program
 * would take for a formula is escaped (csv/cell.ts), and an exported file can be imported again without
 * loss.
 */
import { formatInstant } from '../../../base/clock.ts'
import { and, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import { compileCondition } from '../../ground/conditions/compile.ts'
import type { Condition } from '../../ground/conditions/condition.ts'
import type { NumberedContact } from '../contacts/list/row.ts'
import type { ContactScope } from '../contacts/list/scope.ts'
import { walkContacts } from '../contacts/list/walk.ts'
import { contactScopeOf } from '../segments/contact-scope.ts'
import { loadSegment } from '../segments/segments.ts'
import { writeText, writeValue } from './csv/cell.ts'
import { EXPORT_COLUMNS } from './csv/header.ts'
import { type PlacedCell, writePieces, writeRecord, writeSparseRecord } from './csv/writer.ts'
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
const BYTE_ORDER_MARK = '\ufeff'

/** The position of the column of each key. */
export type DataColumns = ReadonlyMap<string, number>

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
    const columns = await findDataColumns(deps, query.projectId, EXPORT_COLUMNS.length)
    return write(deps, { scope, columns, hasMark: query.hasMark ?? false })
  })
}

/**
 * Finds the columns for the keys that the contacts of the project have. `from`: the number of
 * columns before these.
 */
export async function findDataColumns(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  from: number,
): Promise<DataColumns> {
  const fields = await store.scan.list(listKeys, { projectId })
  return new Map(fields.map(({ key }, index) => [key, from + index]))
}

export function namesOf(columns: DataColumns): string[] {
  return [...columns.keys()].map((key) => `data.${key}`)
}

/**
 * Returns the cells of a contact's data, in the order of the columns. A key without a column has no
 * cell.
 */
export function placeData(
  data: Readonly<Record<string, unknown>> | null,
  columns: DataColumns,
): PlacedCell[] {
  const cells: PlacedCell[] = []
  for (const [key, value] of Object.entries(data ?? {})) {
    const at = columns.get(key)
    if (at !== undefined) cells.push({ at, cell: writeValue(value as never) })
  }
  return cells.sort((one, other) => one.at - other.at)
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

type ExportFile = { scope: ContactScope; columns: DataColumns; hasMark: boolean }

async function* write(
  deps: Pick<Deps, 'store' | 'slots'>,
  { scope, columns, hasMark }: ExportFile,
): AsyncGenerator<Uint8Array> {
  const header = writeRecord([...EXPORT_COLUMNS, ...namesOf(columns)])
  yield Buffer.from((hasMark ? BYTE_ORDER_MARK : '') + header)
  for await (const page of walkContacts(deps, scope, { size: PAGE })) {
    yield* writePieces(deps.slots, page, (contact) => writeContact(contact, columns))
  }
}

function writeContact(contact: NumberedContact, columns: DataColumns): string {
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
