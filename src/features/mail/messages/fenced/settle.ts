/**
 * Puts the mail aside that waited when a fence was set, in state `paused`. Its give-up clock stands
 * meanwhile, and `messages/disabled/settle.ts` and `campaigns/settle-stopped.ts` make it due again when
 * the fence is gone. All of it is found in the database, so a server that was killed goes on where it
 * stopped.
 *
 * A fence is settled when no such mail is left: what is due from then on was accepted later, or a person
 * wants it. Until then delivery puts aside what it claims (`delivery/prepare.ts`).
 */
import { MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { createBatchPace } from '../../../../work/jobs/pace.ts'
import { type Loop, startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import { findGeneration } from '../../../ground/fence/rows.ts'
import { findSending, findUnsettled, listQueued, putAside, setSettled } from './waiting-rows.ts'

type Deps = Pick<Base, 'store' | 'directory' | 'now'>

const FIRST_BATCH = 50
const MAX_BATCH = 1_000
const BATCH_MS = 8
/** Without a server that other writes wait for. */
const ALONE_BATCH = 2_000
/** Row numbers that one pass over the queue returns. */
const PAGE = 20_000

/** Settles at the start, when the directory changes, each minute, and soon while such mail is being sent. */
export function startSettlingFenced(deps: Deps & Pick<Base, 'log'>): Loop {
  return startLoop({
    async run({ signal }) {
      const { isSending } = await settleFenced(deps, { signal })
      return isSending ? SECOND_MS : undefined
    },
    onError: (error) =>
      deps.log.error({ error: describeError(error) }, 'the mail that is held was not put aside'),
    wakes: [deps.directory.onDrop],
    maxWaitMs: MINUTE_MS,
  })
}

type SettleOptions = {
  signal?: AbortSignal | undefined
  /** Nothing else uses the database: no rest between two batches. */
  isAlone?: boolean
}

type Settled = {
  /** Emails that were put aside. */
  moved: number
  /** Emails that were claimed before the fence are being sent: they may be due again. */
  isSending: boolean
}

export async function settleFenced(deps: Deps, options: SettleOptions = {}): Promise<Settled> {
  const { store } = deps
  if ((await store.read.find(findUnsettled)) === undefined) return { moved: 0, isSending: false }
  const generation = (await findGeneration(store.read))?.number ?? 0
  // First: what is claimed now may be due before the queue has been read.
  const isSending = (await store.scan.find(findSending)) !== undefined
  let moved = 0
  for (let more = 1; more > 0 && !options.signal?.aborted; moved += more) {
    more = await putAsidePage(deps, options)
  }
  if (isSending || options.signal?.aborted) return { moved, isSending }
  await store.write(async (tx) => {
    await tx.execute(setSettled, { generation })
    tx.afterCommit(deps.directory.drop)
  })
  return { moved, isSending }
}

async function putAsidePage(
  { store, now }: Deps,
  { signal, isAlone = false }: SettleOptions,
): Promise<number> {
  const found = await store.scan.list(listQueued, { limit: PAGE })
  const first = isAlone ? ALONE_BATCH : FIRST_BATCH
  const pace = createBatchPace({ first, max: MAX_BATCH, batchMs: BATCH_MS })
  let moved = 0
  for (let done = 0; done < found.length && !signal?.aborted; ) {
    const some = found.slice(done, done + (isAlone ? ALONE_BATCH : pace.size()))
    done += some.length
    const numbers = JSON.stringify(some.map(({ number }) => number))
    const write = (tx: Tx) =>
      pace.measure(some.length, () => tx.execute(putAside, { numbers, at: now() }))
    const act = () => store.write(write, { heavyFor: 'fence' })
    moved += isAlone ? await act() : await pace.batch(act, signal)
  }
  return moved
}
