/**
 * Contacts as a CSV (RFC 4180, UTF-8), page by page: nothing is kept of what has been sent. Text
 * that a spreadsheet program would run is written so that it does not (cell.ts), and what is
 * exported can be imported again as it was.
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
import { loadSegment } from '../segments/get.ts'
import { scopeOfSegment } from '../segments/scope.ts'
import { writeText, writeValue } from './csv/cell.ts'
import { EXPORT_COLUMNS } from './csv/header.ts'
import { type PlacedCell, writeRecord, writeSparseRecord } from './csv/writer.ts'
import type { ExportSlots } from './export-slots.ts'

export type ExportQuery = {
  projectId: string
  subscribed?: boolean | undefined
  search?: string | undefined
  condition?: Condition | undefined
  segmentId?: string | undefined
  /** Begins with a byte order mark, without which Excel takes UTF-8 for something else. */
  hasMark?: boolean | undefined
}

type Deps = Pick<Base, 'store' | 'now'> & { room: ExportSlots }

const PAGE = 200
/** How long contacts are written before others have their turn. */
const TURN_MS = 5
/** There may be any number of keys, each of which is a comma at least. */
const PIECE_CHARS = 1024 * 1024
const MARK = '\ufeff'

const listKeys = statement<{ key: string }>(
  () => sql`select distinct key from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 order by key`,
)

/**
 * The file, piece by piece; those whose data gets new keys meanwhile are exported without them. It
 * has its place in the room until it is over: read to its end, or given up with `return`.
 * @throws AppError RATE_LIMIT_EXCEEDED without a place, before anything else; RESOURCE_NOT_FOUND for
 * the segment, BAD_REQUEST for a segment of the condition
 */
export async function exportContacts(
  deps: Deps,
  query: ExportQuery,
): Promise<AsyncIterable<Uint8Array>> {
  const leave = deps.room.enter(query.projectId)
  try {
    const scope = await toScope(deps, query)
    const fields = await deps.store.scan.list(listKeys, { projectId: query.projectId })
    const keys = fields.map(({ key }) => key)
    return holding(write(deps, { scope, keys, hasMark: query.hasMark ?? false }), leave)
  } catch (error) {
    leave()
    throw error
  }
}

/** The same pieces; `leave` is called when no more are made, also where none was asked for. */
function holding(pieces: AsyncGenerator<Uint8Array>, leave: () => void): AsyncIterable<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      try {
        const next = await pieces.next()
        if (next.done) leave()
        return next
      } catch (error) {
        leave()
        throw error
      }
    },
    // Resolves when the scan that runs for it has ended: till then it has its place.
    return: () => pieces.return(undefined).finally(leave),
  }
  return { [Symbol.asyncIterator]: () => iterator }
}

async function toScope(
  deps: Pick<Deps, 'store' | 'now'>,
  query: ExportQuery,
): Promise<ContactScope> {
  const { projectId, subscribed, search, condition, segmentId } = query
  const segment =
    segmentId === undefined
      ? undefined
      : await scopeOfSegment(deps, await loadSegment(deps.store.read, { projectId, id: segmentId }))
  const filter = condition && (await compileCondition(deps, { projectId, condition }))
  return { projectId, subscribed, search, condition: and(segment?.condition, filter) }
}

type File = { scope: ContactScope; keys: readonly string[]; hasMark: boolean }
/** Which column each key has, among those of data. */
type Columns = ReadonlyMap<string, number>

async function* write(
  deps: Pick<Deps, 'store' | 'room'>,
  { scope, keys, hasMark }: File,
): AsyncGenerator<Uint8Array> {
  const columns = new Map(keys.map((key, index) => [key, index]))
  const header = writeRecord([...EXPORT_COLUMNS, ...keys.map((key) => `data.${key}`)])
  yield Buffer.from((hasMark ? MARK : '') + header)
  for await (const page of walkContacts(deps, scope, { size: PAGE })) {
    yield* writePage(page, { columns, room: deps.room })
  }
}

async function* writePage(
  page: readonly NumberedContact[],
  { columns, room }: { columns: Columns; room: ExportSlots },
): AsyncGenerator<Uint8Array> {
  let text = ''
  let endsAt = 0
  for (const contact of page) {
    if (text === '') {
      await room.turn()
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
