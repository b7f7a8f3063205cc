/**
 * Sets up the service below a root folder: the user, the folders with their owner, the program and
 * the unit. A second run finds everything in place and changes nothing. A unit that differs is
 * replaced only with `force`, and is then kept as `.old`. Files are written beside their final
 * place and renamed.
 */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import { refuseSystemFolder } from '../engine/system-folder.ts'
import { BACKUP_FOLDER, CONFIG_FOLDER, SERVICE_USER, STATE_FOLDER, UNIT_FILE } from './unit.ts'

type InstallInput = {
  /** The root folder: `/`, or the root of another system. */
  root: string
  unit: string
  /** The same unit as an earlier version wrote it; such a unit is replaced without `force`. */
  sameUnit?: string | undefined
  /** The executable to copy, and its place below the root; null: no program is copied. */
  program: { from: string; to: string } | null
  /**
   * Folders that the unit names besides the usual ones. systemd does not start a service while one
   * of them is missing.
   */
  writable: readonly string[]
  force: boolean
}

export type InstallStep = { path: string; done: 'created' | 'changed' | 'unchanged' | 'missing' }

const USERS = 'etc/passwd'
const FOLDERS = [STATE_FOLDER, CONFIG_FOLDER, BACKUP_FOLDER]

type Owner = { uid: number; gid: number }

/**
 * Sets up the service and returns the steps.
 * @throws AppError before anything is changed: CONFLICT if another unit is installed; FORBIDDEN for
 * a missing folder among those of the system
 */
export function installService(input: InstallInput): InstallStep[] {
  refuseOtherUnit(input)
  refuseSystemFolders(input)
  const user = makeUser(input.root)
  const owner = findOwner(input.root)
  return [
    user,
    ...FOLDERS.map((folder) => makeFolder(input.root, folder, owner)),
    ...input.writable.flatMap((folder) => makeMissing(input.root, folder, owner)),
    ...(input.program === null ? [] : [placeProgram(input.root, input.program)]),
    placeUnit(input),
  ]
}

function refuseOtherUnit({ root, unit, sameUnit, force }: InstallInput): void {
  const found = readText(path.join(root, UNIT_FILE))
  if (force || found === undefined || found === unit || found === sameUnit) return
  const text = `${UNIT_FILE} exists and differs; --force replaces it and keeps it as ${UNIT_FILE}.old:\n${difference(found, unit)}`
  throw new AppError('CONFLICT', text)
}

function refuseSystemFolders({ root, writable }: InstallInput): void {
  const owner = findOwner(root)
  const isMadeLater = owner === undefined && existsSync(path.join(root, USERS))
  if (owner?.uid === 0 || (owner === undefined && !isMadeLater)) return
  const missing = writable.filter((folder) => !existsSync(path.join(root, folder)))
  for (const folder of missing) refuseSystemFolder(folder, owner?.uid, root)
}

/** Returns the lines that only one of the two texts has, marked with `-` or `+`. */
function difference(before: string, after: string): string {
  const [old, fresh] = [before.split('\n'), after.split('\n')]
  return [
    ...old.filter((line) => !fresh.includes(line)).map((line) => `- ${line}`),
    ...fresh.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
  ].join('\n')
}

/**
 * Makes the user of the service. `done` is `missing` if the root has no list of users: the user
 * must then be made by that system's own tools.
 */
function makeUser(root: string): InstallStep {
  const step = `user ${SERVICE_USER}`
  if (findOwner(root) !== undefined) return { path: step, done: 'unchanged' }
  if (!existsSync(path.join(root, USERS))) return { path: step, done: 'missing' }
  const prefix = root === '/' ? [] : ['--prefix', root]
  const home = ['--home-dir', STATE_FOLDER, '--no-create-home', '--shell', '/usr/sbin/nologin']
  execFileSync('useradd', [...prefix, '--system', '--user-group', ...home, SERVICE_USER], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return { path: step, done: 'created' }
}

function findOwner(root: string): Owner | undefined {
  const users = readText(path.join(root, USERS)) ?? ''
  const line = users.split('\n').find((each) => each.startsWith(`${SERVICE_USER}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid === undefined || gid === undefined ? undefined : { uid: +uid, gid: +gid }
}

/** Makes a folder with mode 0700. Its owner is the user of the service, if that user exists. */
function makeFolder(root: string, folder: string, owner: Owner | undefined): InstallStep {
  const place = path.join(root, folder)
  const found = statSync(place, { throwIfNoEntry: false })
  if (found === undefined) {
    mkdirSync(path.dirname(place), { recursive: true, mode: 0o755 })
    mkdirSync(place, { mode: 0o700 })
    if (owner !== undefined) chownSync(place, owner.uid, owner.gid)
    return { path: folder, done: 'created' }
  }
  const isOwned = owner === undefined || (found.uid === owner.uid && found.gid === owner.gid)
  if (isOwned && (found.mode & 0o7777) === 0o700) return { path: folder, done: 'unchanged' }
  chmodSync(place, 0o700)
  if (owner !== undefined) chownSync(place, owner.uid, owner.gid)
  return { path: folder, done: 'changed' }
}

/**
 * Makes a folder that the operator has chosen; an existing folder keeps its owner and mode. The
 * folder is checked again, because a part of its path may have become a link meanwhile.
 * @throws AppError FORBIDDEN in folders of the system
 */
function makeMissing(root: string, folder: string, owner: Owner | undefined): InstallStep[] {
  if (existsSync(path.join(root, folder))) return []
  if (owner !== undefined && owner.uid !== 0) refuseSystemFolder(folder, owner.uid, root)
  return [makeFolder(root, folder, owner)]
}

function placeProgram(root: string, { from, to }: { from: string; to: string }): InstallStep {
  const place = path.join(root, to)
  const isThere = existsSync(place)
  if (isThere && readFileSync(place).equals(readFileSync(from))) {
    return { path: to, done: 'unchanged' }
  }
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o755 })
  // The file of a running program cannot be written, but another file can take its name.
  copyFileSync(from, `${place}.new`)
  chmodSync(`${place}.new`, 0o755)
  renameSync(`${place}.new`, place)
  return { path: to, done: isThere ? 'changed' : 'created' }
}

function placeUnit({ root, unit }: InstallInput): InstallStep {
  const place = path.join(root, UNIT_FILE)
  const found = readText(place)
  if (found === unit) return { path: UNIT_FILE, done: 'unchanged' }
  mkdirSync(path.dirname(place), { recursive: true, mode: 0o755 })
  if (found !== undefined) renameSync(place, `${place}.old`)
  writeFileSync(`${place}.new`, unit, { mode: 0o644 })
  renameSync(`${place}.new`, place)
  return { path: UNIT_FILE, done: found === undefined ? 'created' : 'changed' }
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
