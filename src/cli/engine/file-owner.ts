/**
 * Runs commands of root, `serve` too, as the owner of the server's files, so that a server of this
 * user can open every file that they leave. The owner is the owner of `data_dir`. Before `data_dir`
 * exists, or while it is root's and empty, the owner is that of the configuration file or, if there
 * is none or it is root's, that of the folder in which `data_dir` will be.
 *
 * The owner's folder holds code that runs in this process (the database's addon). A process that
 * runs one command therefore gives up root for good; a process that runs several takes root back.
 */
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs'
import path from 'node:path'
import sea from 'node:sea'
import type { Config } from '../../config/config.ts'
import { statOf } from '../../config/file-access.ts'
import { explainRefusal, explainStrayFiles, requireReachable } from './access.ts'
import { refuseSystemFolder } from './system-folder.ts'

type FileOwner = { uid: number; gid: number }

/** The functions of `process` that concern users; tests supply their own. */
export type Users = Pick<
  NodeJS.Process,
  'geteuid' | 'getegid' | 'getgroups' | 'seteuid' | 'setegid' | 'setgroups' | 'setuid' | 'setgid'
> & {
  /** A function of `process` that Node's types lack. */
  initgroups?: (user: number, extraGroup: number) => void
}

type OwnerOptions = {
  /** Whether root is given up for good, and not only during `act`. */
  isFinal?: boolean | undefined
  makesDataDir?: boolean
  users?: Users
  /** A file of the program; the owner must be able to enter its folder. */
  program?: string
}

/** Runs `act` as the owner of the files, if this process is root and the owner is another user. */
export async function asFileOwner<T>(
  config: Pick<Config, 'file' | 'dataDir'>,
  act: () => Promise<T>,
  {
    isFinal = false,
    makesDataDir = false,
    users = process,
    program = programFile(),
  }: OwnerOptions = {},
): Promise<T> {
  const explained = () => act().catch((error: unknown) => explainStrayFiles(config, error))
  const owner = isRoot(users) ? findOwner(config) : undefined
  if (owner === undefined || owner.uid === 0) return explained()
  if (makesDataDir) makeDataDir(config, owner)
  const asOwner = async () => {
    requireReachable(program)
    return explained().catch(explainRefusal)
  }
  if (isFinal) {
    becomeForGood(users, owner)
    return asOwner()
  }
  const leave = become(users, owner)
  try {
    return await asOwner()
  } finally {
    leave()
  }
}

/** Returns the executable, or the source file that Node was started with. */
function programFile(): string {
  return sea.isSea() ? process.execPath : (process.argv[1] ?? process.execPath)
}

/**
 * Returns the user who must own a file that root writes in `folder`; undefined: the owner stays
 * root.
 */
export function findFolderOwner(folder: string, users: Users = process): FileOwner | undefined {
  const owner = isRoot(users) ? statOf(folder) : undefined
  return owner?.uid === 0 ? undefined : owner
}

/**
 * Returns the owner of the configuration file, if root would act on a `data_dir` of its own
 * although that file is another user's.
 */
export function findOtherOwner(
  { file, dataDir }: Pick<Config, 'file' | 'dataDir'>,
  users: Users = process,
): FileOwner | undefined {
  const owner = file === null || !isRoot(users) ? undefined : statOf(file)
  if (owner === undefined || owner.uid === 0) return undefined
  return findOwner({ file, dataDir })?.uid === 0 ? owner : undefined
}

function isRoot(users: Users): boolean {
  return users.geteuid?.() === 0
}

function findOwner({ file, dataDir }: Pick<Config, 'file' | 'dataDir'>): FileOwner | undefined {
  const own = statOf(dataDir)
  if (own !== undefined && !isFresh(dataDir, own)) return own
  const ofFile = file === null ? undefined : statOf(file)
  return ofFile === undefined || ofFile.uid === 0 ? (own ?? statAround(dataDir)) : ofFile
}

/** Whether root has made the folder and nobody has used it yet. */
function isFresh(folder: string, { uid }: Stats): boolean {
  return uid === 0 && readdirSync(folder).length === 0
}

function statAround(dataDir: string): Stats | undefined {
  const parent = path.dirname(dataDir)
  return statOf(parent) ?? (parent === dataDir ? undefined : statAround(parent))
}

/**
 * Creates a missing `data_dir`, or gives an empty one of root to the owner, but only if root alone
 * can write to the folder around it. In any other folder another user could place a link, so root
 * does nothing there, and the owner creates `data_dir` later.
 * @throws AppError FORBIDDEN in folders of the system
 */
function makeDataDir({ dataDir }: Pick<Config, 'dataDir'>, { uid, gid }: FileOwner): void {
  const found = statOf(dataDir)
  if (found !== undefined) {
    if (found.uid !== 0 || !isWritableByRootOnly(realpathSync(path.dirname(dataDir)))) return
    refuseSystemFolder(dataDir, uid)
    lchownSync(dataDir, uid, gid)
    return
  }
  const missing: string[] = []
  let folder = dataDir
  for (; statOf(folder) === undefined; folder = path.dirname(folder)) missing.unshift(folder)
  if (!isWritableByRootOnly(realpathSync(folder))) return
  refuseSystemFolder(dataDir, uid)
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

/**
 * Takes the owner's identity; the returned function restores root's. Root's supplementary groups
 * are dropped, too, because with them the process could read files that the server cannot read.
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

/** Takes the groups of the user; a user without an account on the system has only the one group. */
function takeGroups(users: Users, { uid, gid }: FileOwner): void {
  try {
    users.initgroups?.(uid, gid)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (code !== 'ERR_UNKNOWN_CREDENTIAL') throw error
    users.setgroups?.([gid])
  }
}
