/**
 * Commands run by root work as the owner of the server's files, so that they leave no file that the
 * server cannot open. The owner is who owns `data_dir`; where there is none yet, who owns the
 * configuration file.
 */
import { chownSync, mkdirSync, type Stats, statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config/config.ts'

export type FileOwner = { uid: number; gid: number }

/** The parts of `process` that know users; tests bring their own. */
export type Users = Pick<NodeJS.Process, 'geteuid' | 'getegid' | 'seteuid' | 'setegid'>

/** Runs `act` as that owner where the process is root's and the files are not. */
export async function asFileOwner<T>(
  config: Pick<Config, 'file' | 'dataDir'>,
  act: () => Promise<T>,
  { users = process, makesDataDir = false }: { users?: Users; makesDataDir?: boolean } = {},
): Promise<T> {
  const root = users.geteuid?.() === 0 ? { uid: 0, gid: users.getegid?.() ?? 0 } : undefined
  const owner = root === undefined ? undefined : findOwner(config)
  if (root === undefined || owner === undefined || owner.uid === 0) return act()
  if (makesDataDir) makeDataDir(config, owner)
  become(users, owner)
  try {
    return await act()
  } finally {
    become(users, root)
  }
}

/** Gives a file that root has just written to the owner of its folder. */
export function giveToFolderOwner(file: string, users: Users = process): void {
  if (users.geteuid?.() !== 0) return
  const owner = statOf(path.dirname(file))
  if (owner !== undefined && owner.uid !== 0) chownSync(file, owner.uid, owner.gid)
}

function findOwner({ file, dataDir }: Pick<Config, 'file' | 'dataDir'>): FileOwner | undefined {
  return statOf(dataDir) ?? (file === null ? undefined : statOf(file))
}

/** Root can make it where the owner could not. */
function makeDataDir({ dataDir }: Pick<Config, 'dataDir'>, { uid, gid }: FileOwner): void {
  if (statOf(dataDir) !== undefined) return
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  chownSync(dataDir, uid, gid)
}

function statOf(file: string): Stats | undefined {
  return statSync(file, { throwIfNoEntry: false })
}

/** Group and user, in the order that the rights of the moment allow. */
function become(users: Users, { uid, gid }: FileOwner): void {
  if (uid === 0) users.seteuid?.(uid)
  users.setegid?.(gid)
  if (uid !== 0) users.seteuid?.(uid)
}
