/**
 * Notices that the database is older than `<data_dir>/generation`: somebody brought it back from a copy.
 *
 *   the database knows less than the file    fence; with no project in it, it is new: numbers go on, only
 *   the same, or more                        nothing
 *   no file                                  nothing
 *   a file that cannot be read               the same, with a warning
 *
 * Servers look before they act, and commands too: the events of a command would raise the numbers of the
 * database, up to those of the file, and hide from the server that it is older.
 */
import { AppError } from '../../../base/errors.ts'
import { projects } from '../../../store/schema/accounts.ts'
import type { FenceCause } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import {
  findKnown,
  generationFileOf,
  isOlder,
  readGeneration,
} from '../../ground/fence/generation-file.ts'
import { continueGeneration } from '../../ground/fence/set.ts'
import { fenceOlderDatabase } from './fence-database.ts'
import { RELEASE_COMMAND, refuseLostLog } from './notice-lost-log.ts'

type Deps = Pick<Base, 'store' | 'duties' | 'config' | 'directory' | 'now' | 'log'>

/**
 * Call it before anything acts on the database. Returns whether a fence had to be set; another process may
 * have been faster.
 */
export async function noticeOlderDatabase(deps: Deps, cause: FenceCause): Promise<boolean> {
  const { config, log } = deps
  const file = generationFileOf(config)
  // The file is read before the database, which never knows less later on.
  const known = await readGeneration(file)
  if (known === 'missing') return false
  if (known === 'unreadable') {
    log.warn({ file }, 'the file of the generation cannot be read and is written anew')
    return false
  }
  const own = await findKnown(deps.store.read)
  if (!isOlder(own, known)) return false
  if (await isNew(deps)) {
    await continueGeneration(deps, known)
    return false
  }
  const fenced = await fenceOlderDatabase(deps, { cause, known })
  const facts = { ...fenced, newestEvent: own.seq, newestEventKnown: known.seq }
  log.warn(facts, `the database is older than it was: what it had is held until ${RELEASE_COMMAND}`)
  return true
}

/**
 * Stops a command that must not act on what it was told before the fence was there. What a server
 * has claimed in the meantime stays with the server. @throws AppError CONFLICT
 */
export async function refuseOlderDatabase(deps: Deps): Promise<void> {
  await refuseLostLog(deps)
  if (!(await noticeOlderDatabase(deps, 'command'))) return
  const text = 'The database is older than it was: it was brought back from a copy.'
  const suggestion = `What it had is held now, until "${RELEASE_COMMAND}". Run the command again.`
  throw new AppError('CONFLICT', text, { suggestion })
}

async function isNew({ store }: Pick<Deps, 'store'>): Promise<boolean> {
  return (await store.read.select({ id: projects.id }).from(projects).limit(1).get()) === undefined
}
