/**
 * Commands run by root work as the owner of the server's files, so that they leave no file that the
 * server cannot open. The owner is who owns `data_dir`; where there is none yet, who owns the
 * configuration file.
 *
 * The owner's folder holds code that runs in this process (the database's addon), so a process that
 * is one command gives root up for good; only where several run in one is it taken back.
 */
import { chmodSync, lchownSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../../config/config.ts'

export type FileOwner = { uid: number; gid: number }

/** The parts of `process` that know users; tests bring their own. */
export type Users = Pick<
  NodeJS.Process,
  'geteuid' | 'getegid' | 'getgroups' | 'seteuid' | 'setegid' | 'setgroups' | 'setuid' | 'setgid'
> & {
  /** Which the types of Node leave out. */
  initgroups?: (user: number, extraGroup: number) => void
}

type OwnerOptions = {
  /** That the process never is root's again. */
  isFinal?: boolean | undefined
  makesDataDir?: boolean
  users?: Users
}

/** Runs `act` as that owner where the process is root's and the files are not. */
export async function asFileOwner<T>(
  config: Pick<Config, 'file' | 'dataDir'>,
  act: () => Promise<T>,
  { isFinal = false, makesDataDir = false, users = process }: OwnerOptions = {},
): Promise<T> {
  const owner = isRoot(users) ? findOwner(config) : undefined
  if (owner === undefined || owner.uid === 0) return act()
  if (makesDataDir) makeDataDir(config, owner)
  if (isFinal) {
    becomeForGood(users, owner)
    return act()
  }
  const leave = become(users, owner)
  try {
    return await act()
  } finally {
    leave()
  }
}

/** To whom a file belongs that root writes to that folder; undefined where it stays as it is. */
export function findFolderOwner(folder: string, users: Users = process): FileOwner | undefined {
  const owner = isRoot(users) ? statOf(folder) : undefined
  return owner?.uid === 0 ? undefined : owner
}

function isRoot(users: Users): boolean {
  return users.geteuid?.() === 0
}

function findOwner({ file, dataDir }: Pick<Config, 'file' | 'dataDir'>): FileOwner | undefined {
  return statOf(dataDir) ?? (file === null ? undefined : statOf(file))
}

/**
 * Root can make it where the owner could not. Below a folder in which somebody else than root could
 * put a link, the owner has to make it.
 */
function makeDataDir({ dataDir }: Pick<Config, 'dataDir'>, { uid, gid }: FileOwner): void {
  const missing: string[] = []
  let folder = dataDir
  for (; statOf(folder) === undefined; folder = path.dirname(folder)) missing.unshift(folder)
  if (missing.length === 0 || !isRootsAlone(realpathSync(folder))) return
  for (const part of missing) {
    mkdirSync(part, { mode: 0o700 })
    if (part === dataDir) lchownSync(part, uid, gid)
    else chmodSync(part, 0o755)
  }
}

/** Whether nobody but root can rename or remove what root makes in it. */
function isRootsAlone(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0
  const parent = path.dirname(folder)
  return uid === 0 && !isOpen && (parent === folder || isRootsAlone(parent))
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false })
}

/**
 * Takes the owner's identity; the function that is returned gives root's back. Root's further groups
 * go too: with them the process could read what the server cannot.
 */
function become(users: Users, { uid, gid }: FileOwner): () => void {
  const [rootGid = 0, rootGroups = []] = [users.getegid?.(), users.getgroups?.()]
  takeGroups(users, { uid, gid })
  users.setegid?.(gid)
  users.seteuid?.(uid)
  return () => {
    users.seteuid?.(0)
    users.setegid?.(rootGid)
    users.setgroups?.(rootGroups)
  }
}

function becomeForGood(users: Users, { uid, gid }: FileOwner): void {
  takeGroups(users, { uid, gid })
  users.setgid?.(gid)
  users.setuid?.(uid)
}

/** The groups of a user whom the system has no account of are the one group. */
function takeGroups(users: Users, { uid, gid }: FileOwner): void {
  try {
    users.initgroups?.(uid, gid)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_UNKNOWN_CREDENTIAL') throw error
    users.setgroups?.([gid])
  }
}
