/**
 * Describes in words why a file cannot be used: who the user is, which folder stops the user, and who owns
 * the files of the server. Users that the system does not list are named by their number.
 */
import { readFileSync, type Stats, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { hasCode } from '../base/errors.ts'
import { quoteWord } from './shell-word.ts'

const USERS_FILE = '/etc/passwd'

/** Whether an operation was refused to the user of this process. */
export function isRefused(error: unknown): boolean {
  return hasCode(error, 'EACCES') || hasCode(error, 'EPERM')
}

/** The user that this process acts as, in words: `the user pillarbox`. */
export function presentUser(): string {
  const uid = process.geteuid?.()
  return uid === undefined ? `the user ${userInfo().username}` : `the user ${userName(uid)}`
}

function userName(uid: number): string {
  return nameOf(uid) ?? `number ${uid}`
}

/** The user as a word of a command, which takes a bare number too. */
export function userArgument(uid: number): string {
  return nameOf(uid) ?? String(uid)
}

/** `chown -R pillarbox: /var/lib/pillarbox`; a user without a name has no group of its own. */
export function giveTo(uid: number, folder: string): string {
  const name = nameOf(uid)
  return `chown -R ${name === undefined ? uid : `${name}:`} ${quoteWord(folder)}`
}

/**
 * `run it as root or as pillarbox`: who may use the files of that user. If the server cannot open files of
 * root, these files need another owner; a further command of root would not help.
 */
export function runAs(uid: number, place?: string): string {
  if (uid !== 0) return `run it as root or as ${userName(uid)}`
  const present = process.geteuid?.()
  if (place === undefined || present === undefined || present === 0) return 'run it as root'
  return `if the server runs as ${userName(present)}, as root run "${giveTo(present, place)}", otherwise run it as root`
}

type FileRefusal = {
  found: string
  /** The file itself, or the folder on the way that the user cannot enter. */
  obstacle: string
  isEntered: boolean
  ownerUid: number
}

/** Why this user cannot read a file that `isRefused`. */
export function describeUnreadable(file: string): FileRefusal {
  const { path: obstacle, uid } = findObstacle(file)
  const isEntered = obstacle === file
  const found = isEntered
    ? `a file that ${presentUser()} cannot read`
    : `a place in ${obstacle}, which ${presentUser()} cannot enter`
  return { found, obstacle, isEntered, ownerUid: uid }
}

function findObstacle(file: string): { path: string; uid: number } {
  const parent = path.dirname(file)
  const found = statOf(file)
  if (found !== undefined || parent === file) return { path: file, uid: found?.uid ?? 0 }
  return findObstacle(parent)
}

/** Returns the facts of a file; undefined if the file does not exist or cannot be reached. */
export function statOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch (error) {
    if (isRefused(error) || hasCode(error, 'ENOTDIR')) return undefined
    throw error
  }
}

function nameOf(uid: number): string | undefined {
  // Not every system lists its users in a file.
  return nameInFile(uid) ?? (uid === process.geteuid?.() ? ownName() : undefined)
}

function nameInFile(uid: number): string | undefined {
  try {
    const lines = readFileSync(USERS_FILE, 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , id]) => id === String(uid))?.[0]
  } catch {
    return undefined
  }
}

function ownName(): string | undefined {
  try {
    return userInfo().username
  } catch {
    return undefined
  }
}
