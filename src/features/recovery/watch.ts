/**
 * Keeps `<data_dir>/generation` up to date while a server runs, and notices at its start that the database
 * is older than the file: somebody brought it back from a copy. Then the fence is set before anything acts.
 *
 *   the database knows less than the file    fence; with no project in it, it is new: numbers go on, only
 *   the same, or more                        nothing
 *   no file                                  nothing; the file is written
 *   a file that cannot be read               the same, with a warning
 */
import { MINUTE_MS } from '../../clock.ts'
import { describeError } from '../../errors.ts'
import { projects } from '../../store/schema/accounts.ts'
import type { Base } from '../base.ts'
import {
  findKnown,
  generationFileOf,
  type KnownGeneration,
  readGeneration,
  writeGeneration,
} from '../fence/generation-file.ts'
import { listFences, SERVER } from '../fence/rows.ts'
import { continueGeneration } from '../fence/set.ts'
import { fenceDatabase } from './fence-database.ts'

type Deps = Pick<Base, 'store' | 'config' | 'directory' | 'health' | 'now' | 'log'>

const COMMAND = 'pillarbox queue release --restored'

/**
 * Call it before anything acts on the database; it must be the only server. `stop` writes the file a last
 * time.
 */
export async function startGenerationWatch(
  deps: Deps,
  everyMs = MINUTE_MS,
): Promise<{ stop(): Promise<void> }> {
  await noticeOlderDatabase(deps)
  await writeOrWarn(deps)
  await reportFences(deps)
  let writing = Promise.resolve()
  const timer = setInterval(() => {
    writing = writing.then(() => writeOrWarn(deps))
  }, everyMs)
  timer.unref()
  const unwatch = deps.directory.onDrop(() => void reportFences(deps))
  return {
    async stop() {
      clearInterval(timer)
      unwatch()
      await writing
      await writeOrWarn(deps)
    },
  }
}

async function noticeOlderDatabase(deps: Deps): Promise<void> {
  const { config, log } = deps
  const file = generationFileOf(config)
  const known = await readGeneration(file)
  if (known === 'missing') return
  if (known === 'unreadable') {
    log.warn({ file }, 'the file of the generation cannot be read and is written anew')
    return
  }
  const own = await findKnown(deps)
  if (!isOlder(own, known)) return
  if (await isNew(deps)) {
    await continueGeneration(deps, known)
    return
  }
  const { generation, held } = await fenceDatabase(deps, { cause: 'start', isAlone: true })
  const facts = { generation, held, newestEvent: own.seq, newestEventKnown: known.seq }
  log.warn(facts, `the database is older than it was: what it had is held until ${COMMAND}`)
}

function isOlder(own: KnownGeneration, known: KnownGeneration): boolean {
  return own.seq < known.seq || own.generation < known.generation
}

async function isNew({ store }: Pick<Deps, 'store'>): Promise<boolean> {
  return (await store.read.select({ id: projects.id }).from(projects).limit(1).get()) === undefined
}

async function writeOrWarn(deps: Deps): Promise<void> {
  try {
    await writeGeneration(deps)
  } catch (error) {
    const facts = { error: describeError(error), file: generationFileOf(deps.config) }
    deps.log.warn(facts, 'the file of the generation cannot be written; this is tried again')
  }
}

async function reportFences({ store, health, log }: Deps): Promise<void> {
  try {
    const fences = await listFences(store.read)
    const projectCount = fences.filter(({ projectId }) => projectId !== SERVER).length
    health.set('fence', fences.length === 0 ? null : reasonOf(projectCount))
  } catch (error) {
    log.error({ error: describeError(error) }, 'the fences could not be read')
  }
}

function reasonOf(projectCount: number): string {
  const of = projectCount === 1 ? '1 project' : `${projectCount} projects`
  const whose = projectCount === 0 ? 'the server itself' : of
  return `The database was brought back from a copy: what it had of ${whose} is held until ${COMMAND}.`
}
