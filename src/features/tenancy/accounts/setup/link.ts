/**
 * The link by which the first user of a server is made in a browser: `<base_url>/app/setup#<token>`. Browsers
 * send no fragment, so no proxy and no log sees the token. Each start of a server that can be set up
 * (`is-open.ts`) makes a new link, which is valid for 24 hours and ends the one before. The database has the
 * digest of the token, and the file `setup-link` in `data_dir`, of mode 600, has the link.
 *
 * The digest decides. A file that could not be written or deleted changes nothing else.
 */
import { timingSafeEqual } from 'node:crypto'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { DAY_MS, formatInstant } from '../../../../base/clock.ts'
import { AppError, describeError } from '../../../../base/errors.ts'
import type { Config } from '../../../../config/config.ts'
import { replaceFile } from '../../../../config/replace-file.ts'
import { setupLinks } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { digestLinkToken, makeLinkToken } from '../links/link-tokens.ts'
import { isSetupOpen } from './is-open.ts'

type LinkDeps = Pick<Base, 'store' | 'config' | 'now' | 'log'>
type FileDeps = Pick<Base, 'log'> & { config: Pick<Config, 'dataDir'> }

export type SetupLink = {
  link: string
  /** The file that holds the link; null if it could not be written. */
  file: string | null
  expiresAt: string
}

const LIFE_MS = DAY_MS

/**
 * Makes a new link, which ends the one before. Returns null, and deletes what is left of a link, if a user may
 * log in.
 */
export async function makeSetupLink(deps: LinkDeps): Promise<SetupLink | null> {
  const { store, config, now } = deps
  const token = makeLinkToken()
  const expiresAt = now() + LIFE_MS
  const isOpen = await isSetupOpen(deps, store.read)
  const isMade = isOpen && (await store.write((tx) => insertLink(deps, tx, { token, expiresAt })))
  if (!isMade) {
    await closeSetup(deps)
    return null
  }
  const link = `${config.baseUrl}/app/setup#${token}`
  return { link, file: await writeLink(deps, link), expiresAt: formatInstant(expiresAt) }
}

/** Makes a new link as `makeSetupLink`. @throws AppError CONFLICT if a user may log in */
export async function renewSetupLink(deps: LinkDeps): Promise<SetupLink> {
  const made = await makeSetupLink(deps)
  if (made !== null) return made
  throw new AppError('CONFLICT', 'This server is set up: users can log in.', {
    suggestion: 'To make another user: pillarbox user create --email ADDRESS --operator',
  })
}

export async function deleteLink(tx: Tx): Promise<void> {
  await tx.delete(setupLinks)
}

/** Deletes the file of the link, or the symbolic link in its place. A failure is logged, and not thrown. */
export async function deleteLinkFile({ config, log }: FileDeps): Promise<void> {
  await rm(fileOf(config), { force: true }).catch((error: unknown) => {
    log.warn({ reason: describeError(error) }, 'the file of the set-up link was not deleted')
  })
}

/** Whether the token is that of the present link. The comparison takes the same time for all tokens. */
export async function isSetupToken(
  queries: Pick<Tx, 'select'>,
  { token, at }: { token: string; at: number },
): Promise<boolean> {
  const [link] = await queries.select().from(setupLinks).limit(1)
  const given = Buffer.from(digestLinkToken(token))
  const isSame = timingSafeEqual(given, Buffer.from(link?.digest ?? digestLinkToken('')))
  return isSame && link !== undefined && link.expiresAt > at
}

/** Deletes what is left of a link. */
async function closeSetup(deps: LinkDeps): Promise<void> {
  const { store } = deps
  const [left] = await store.read.select().from(setupLinks).limit(1)
  if (left !== undefined) await store.write((tx) => deleteLink(tx))
  await deleteLinkFile(deps)
}

/** Returns false if a user may log in meanwhile. */
async function insertLink(
  deps: LinkDeps,
  tx: Tx,
  { token, expiresAt }: { token: string; expiresAt: number },
): Promise<boolean> {
  if (!(await isSetupOpen(deps, tx))) return false
  await deleteLink(tx)
  await tx.insert(setupLinks).values({ digest: digestLinkToken(token), expiresAt })
  return true
}

/** The file replaces whatever has its name, so a symbolic link there leads nowhere. */
async function writeLink(deps: LinkDeps, link: string): Promise<string | null> {
  const file = fileOf(deps.config)
  try {
    await replaceFile(file, `${link}\n`)
    return file
  } catch (error) {
    deps.log.warn({ reason: describeError(error) }, 'the set-up link was not written to its file')
    return null
  }
}

function fileOf({ dataDir }: Pick<Config, 'dataDir'>): string {
  return path.join(dataDir, 'setup-link')
}
