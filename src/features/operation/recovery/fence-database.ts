/**
 * Fences the whole database: on the wish of an operator, after a restore, or at the start of a server that
 * found it older than it was. Works beside a running server too, which then puts the mail aside itself.
 */
import type { FenceCause } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import {
  generationFileOf,
  type KnownGeneration,
  readGeneration,
  writeGeneration,
} from '../../ground/fence/generation-file.ts'
import { listFences } from '../../ground/fence/rows.ts'
import { setFence, setFenceForLog, setFenceIfOlder } from '../../ground/fence/set.ts'
import { settleFenced } from '../../mail/messages/fenced/settle.ts'
import { recoverLeases } from '../../mail/messages/queue/leases.ts'
import { countFenced, type FencedCounts } from './release.ts'

export type FenceDeps = Pick<Base, 'store' | 'duties' | 'config' | 'directory' | 'now' | 'log'>

export type Fenced = { generation: number; held: FencedCounts }

type FenceOptions = {
  cause: FenceCause
  /**
   * Whether no server runs on the database. Then the mail is put aside before this resolves; else
   * the server does so.
   */
  isAlone: boolean
}

/**
 * Fences the database. Once this resolves, the fence is durable. A second call begins another
 * generation.
 * @throws AppError DATABASE_ERROR
 */
export async function fenceDatabase(deps: FenceDeps, options: FenceOptions): Promise<Fenced> {
  const found = await readGeneration(generationFileOf(deps.config))
  const known = typeof found === 'string' ? undefined : found
  const { generation } = await setFence(deps, { cause: options.cause, known })
  return holdMail(deps, generation, options)
}

/**
 * Fences a database that knows less than the file `generation`, and treats it as one without a
 * server. Returns undefined if another process has fenced the database since.
 * @throws AppError DATABASE_ERROR
 */
export async function fenceOlderDatabase(
  deps: FenceDeps,
  { cause, known }: { cause: FenceCause; known: KnownGeneration },
): Promise<Fenced | undefined> {
  const fence = await setFenceIfOlder(deps, { cause, known })
  return fence && holdMail(deps, fence.generation, { cause, isAlone: true })
}

/** Fences a database whose log was lost (`notice-older.ts`), like `fenceOlderDatabase`. */
export async function fenceWithoutLog(
  deps: FenceDeps,
  { by, servedAt }: { by: 'start' | 'command'; servedAt: number },
): Promise<Fenced | undefined> {
  const found = await readGeneration(generationFileOf(deps.config))
  const known = typeof found === 'string' ? undefined : found
  const fence = await setFenceForLog(deps, { known, servedAt })
  return fence && holdMail(deps, fence.generation, { cause: by, isAlone: true })
}

async function holdMail(
  deps: FenceDeps,
  generation: number,
  { cause, isAlone }: FenceOptions,
): Promise<Fenced> {
  const { store, directory, now, log } = deps
  directory.drop()
  if (isAlone) {
    // A command has no lock, so a server may have started by now. The leases of this server have
    // not ended, and must stay.
    const until = cause === 'command' ? now() : Number.MAX_SAFE_INTEGER
    await recoverLeases(deps, { until, except: [] })
    await settleFenced(deps, { isAlone })
  }
  await writeGeneration(deps).catch((error: unknown) => {
    log.warn({ error }, 'the file of the generation cannot be written')
  })
  const fences = await listFences(store.read)
  const held = await countFenced(
    deps,
    fences.map(({ projectId }) => projectId),
  )
  return { generation, held }
}
