/**
 * An `Idempotency-Key` makes a request take effect once. A key is reserved in memory while the
 * request runs, and becomes a row in the transaction of the request's own writes. So after a crash the
 * key of a request that was not accepted is free. A reserved key is refused, and may become free. A used
 * key is refused, never replayed. That refusal contains the first response, for a client that did not
 * receive it, but only for the same operation: a public key opens event tracking and must not reveal the
 * recipients of emails.
 */
import { HOUR_MS } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import { and, eq, lte, sql } from '../../../store/drizzle.ts'
import { idempotencyKeys } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { oldRows, type Retention } from '../../../work/retention.ts'
import type { Base } from '../base.ts'

export type IdempotentRequest = {
  projectId: string
  key: string
  method: string
  path: string
  at: number
}

/** The most characters of a key. Keys are printable ASCII. */
export const MAX_IDEMPOTENCY_KEY_LENGTH = 255

/** The keys of running requests, shared by the whole server. */
export type ReservedKeys = Map<string, IdempotentRequest>

const findKey = statement((db) =>
  db
    .select()
    .from(idempotencyKeys)
    .where(
      and(
        eq(idempotencyKeys.projectId, parameter('projectId')),
        eq(idempotencyKeys.key, parameter('key')),
      ),
    ),
)

/** Inserts the key unless an unexpired row has it. */
const insertKey = statement((db) =>
  db
    .insert(idempotencyKeys)
    .values({
      projectId: parameter('projectId'),
      key: parameter('key'),
      method: parameter('method'),
      path: parameter('path'),
      statusCode: parameter('statusCode'),
      responseData: parameter('responseData'),
      createdAt: parameter('at'),
      expiresAt: parameter('expiresAt'),
    })
    .onConflictDoUpdate({
      target: [idempotencyKeys.projectId, idempotencyKeys.key],
      set: {
        method: sql`excluded.method`,
        path: sql`excluded.path`,
        statusCode: sql`excluded.status_code`,
        responseData: sql`excluded.answer`,
        createdAt: sql`excluded.created_at`,
        expiresAt: sql`excluded.expires_at`,
      },
      setWhere: lte(idempotencyKeys.expiresAt, parameter('at')),
    }),
)

/**
 * Refuses a key that is in use, before the rest of the request is checked.
 * @throws AppError IDEMPOTENCY_KEY_REUSED
 */
export async function refuseUsedKey(
  { store, reservedKeys, now }: Pick<Base, 'store' | 'now'> & { reservedKeys: ReservedKeys },
  request: Omit<IdempotentRequest, 'at'>,
): Promise<void> {
  const { projectId, key } = request
  const holder = reservedKeys.get(nameOf(request))
  if (holder !== undefined) throw stillRunning(holder)
  refuseKnown(await store.read.find(findKey, { projectId, key }), { ...request, at: now() })
}

/**
 * Runs `act` while this request holds the key; without a key it only runs `act`.
 * @throws AppError IDEMPOTENCY_KEY_REUSED while another request holds it
 */
export async function reserveKey<T>(
  reservedKeys: ReservedKeys,
  request: IdempotentRequest | null,
  act: () => Promise<T>,
): Promise<T> {
  if (request === null) return act()
  const name = nameOf(request)
  const holder = reservedKeys.get(name)
  if (holder !== undefined) throw stillRunning(holder)
  reservedKeys.set(name, request)
  try {
    return await act()
  } finally {
    reservedKeys.delete(name)
  }
}

/** `responseData` is the field `data` of the response. */
type StoredResponse = { statusCode: number; responseData: Record<string, unknown> }

/**
 * Stores the key in the transaction of the request's own writes.
 * @throws AppError IDEMPOTENCY_KEY_REUSED when an earlier request took effect under it
 */
export async function insertIdempotencyKey(
  tx: Tx,
  request: IdempotentRequest,
  { statusCode, responseData, hours }: StoredResponse & { hours: number },
): Promise<void> {
  const expiresAt = request.at + hours * HOUR_MS
  const inserted = await tx.execute(insertKey, { ...request, statusCode, responseData, expiresAt })
  if (inserted > 0) return
  const { projectId, key } = request
  refuseKnown(await tx.find(findKey, { projectId, key }), request)
}

export const IDEMPOTENCY_KEYS: Retention = {
  name: 'delete-expired-idempotency-keys',
  schedule: '17 * * * *',
  keptMs: 0,
  deletions: [
    oldRows({
      ...{ table: 'idempotency_keys', key: 'project_id, key', column: 'expires_at' },
      index: 'idempotency_keys_expiry',
    }),
  ],
  pace: { first: 500, max: 2_000, batchMs: 4, rest: { times: 2 } },
}

type KnownKey = typeof idempotencyKeys.$inferSelect

function refuseKnown(known: KnownKey | undefined, { method, path, at }: IdempotentRequest): void {
  if (known === undefined || known.expiresAt <= at) return
  const isSameOperation = known.method === method && known.path === path
  const responseData = isSameOperation ? known.responseData : null
  throw reused({ ...known, at: known.createdAt }, { statusCode: known.statusCode, responseData })
}

function nameOf({ projectId, key }: Pick<IdempotentRequest, 'projectId' | 'key'>): string {
  return `${projectId} ${key}`
}

type Original = { key: string; method: string; path: string; at: number }

/**
 * The error while the earlier request still runs. If that request is refused, its key is free
 * again.
 */
function stillRunning(original: Original): AppError {
  return new AppError(
    'IDEMPOTENCY_KEY_REUSED',
    'An earlier request with this Idempotency-Key is still being worked on.',
    {
      suggestion:
        'Send the same request again in a moment: it is accepted if the earlier one was refused, else the ' +
        'error says what became of the earlier one.',
      details: detailsOf(original, null),
    },
  )
}

function reused(
  original: Original,
  response: { statusCode: number | null; responseData: Record<string, unknown> | null },
): AppError {
  const { statusCode, responseData } = response
  const details = detailsOf(original, statusCode)
  return new AppError('IDEMPOTENCY_KEY_REUSED', 'This Idempotency-Key was already used.', {
    details: responseData === null ? details : { ...details, data: responseData },
  })
}

function detailsOf({ key, method, path, at }: Original, originalStatusCode: number | null) {
  return {
    key,
    originalRequest: `${method} ${path}`,
    originalRequestAt: new Date(at).toISOString(),
    originalStatusCode,
  }
}
