/**
 * Commands that root starts run as the owner of the server's files, so that the server can open every
 * file that they leave. The owner is the owner of `data_dir` or, before that exists, of the
 * configuration file or, without one, of the folder that `data_dir` comes into.
 *
 * The owner's folder holds code that runs in this process (the database's addon). A process that runs
 * one command therefore gives up root for good; a process that runs several takes root back.
 */
import { chmodSync, lchownSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../../config/config.ts'

export type FileOwner = { uid: number; gid: number }

/** The parts of `process` that concern users; tests supply their own. */
export type Users = Pick<
  NodeJS.Process,
  'geteuid' | 'getegid' | 'getgroups' | 'seteuid' | 'setegid' | 'setgroups' | 'setuid' | 'setgid'
> & {
  /** Missing in the types of Node. */
  initgroups?: (user: number, extraGroup: number) => void
}

type OwnerOptions = {
  /** Gives up root for good. */
  isFinal?: boolean | undefined
  makesDataDir?: boolean
  users?: Users
}

/** Runs `act` as the owner of the files if this process is root and the owner is not. */
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

/**
 * Returns the user who must own a file that root writes in `folder`; undefined: the owner stays
 * root.
 */
export function findFolderOwner(folder: string, users: Users = process): FileOwner | undefined {
  const owner = isRoot(users) ? statOf(folder) : undefined
  return owner?.uid === 0 ? undefined : owner
}

function isRoot(users: Users): boolean {
  return users.geteuid?.() === 0
}

function findOwner({ file, dataDir }: Pick<Config, 'file' | 'dataDir'>): FileOwner | undefined {
  return statOf(dataDir) ?? (file === null ? statAround(dataDir) : statOf(file))
}

function statAround(dataDir: string): Stats | undefined {
  const parent = path.dirname(dataDir)
  return statOf(parent) ?? (parent === dataDir ? undefined : statAround(parent))
}

/**
 * Creates a missing `data_dir` if only root can write to the folder around it. In any other folder,
 * another user could place a link, so root creates nothing and the owner does it later.
 */
function makeDataDir({ dataDir }: Pick<Config, 'dataDir'>, { uid, gid }: FileOwner): void {
  const missing: string[] = []
  let folder = dataDir
  for (; statOf(folder) === undefined; folder = path.dirname(folder)) missing.unshift(folder)
  if (missing.length === 0 || !isWritableByRootOnly(realpathSync(folder))) return
  for (const part of missing) {
    mkdirSync(part, { mode: 0o700 })
    if (part === dataDir) lchownSync(part, uid, gid)
    else chmodSync(part, 0o755)
  }
}

/** Whether only root can rename or remove entries of `folder`. */
function isWritableByRootOnly(folder: string): boolean {
  const { uid, mode } = statSync(folder)
  const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0
  const parent = path.dirname(folder)
  return uid === 0 && !isOpen && (parent === folder || isWritableByRootOnly(parent))
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false })
}

/**
 * Takes the owner's identity; the returned function restores root's. Root's supplementary groups
 * are dropped too, because with them the process could read files that the server cannot.
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

/** A user without an account on the system has one group only. */
function takeGroups(users: Users, { uid, gid }: FileOwner): void {
  try {
    users.initgroups?.(uid, gid)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_UNKNOWN_CREDENTIAL') throw error
    users.setgroups?.([gid])
  }
}
