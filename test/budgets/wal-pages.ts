/**
 * The pages in a write-ahead log, by the B-tree that they belong to. The log has a header of 32 bytes; each
 * page follows a header of 24: its number, then the size of the database if the frame ends a commit, else 0
 * (https://sqlite.org/fileformat2.html#walformat).
 */
import { readFileSync } from 'node:fs'
import type { Connection } from '../../src/store/connection.ts'

export type WalPages = { commits: number; pages: Record<string, number> }

const HEADER = 32
const FRAME_HEADER = 24
const SALT = 16
const SALT_BYTES = 8

/** `file`: the log, which was empty when the count began. */
export function readWalPages(file: string, connection: Connection): WalPages {
  const log = readFileSync(file)
  const owners = ownersOf(connection)
  const pages: Record<string, number> = {}
  let commits = 0
  if (log.length < HEADER) return { commits, pages }
  const frameBytes = FRAME_HEADER + log.readUInt32BE(8)
  const salt = log.subarray(SALT, SALT + SALT_BYTES)
  for (let at = HEADER; at + frameBytes <= log.length; at += frameBytes) {
    // A frame of an earlier turn of the log.
    if (!log.subarray(at + 8, at + 8 + SALT_BYTES).equals(salt)) break
    const owner = owners.get(log.readUInt32BE(at)) ?? 'free pages'
    pages[owner] = (pages[owner] ?? 0) + 1
    if (log.readUInt32BE(at + 4) > 0) commits += 1
  }
  return { commits, pages }
}

function ownersOf(connection: Connection): Map<number, string> {
  const rows = connection.run('select pageno, name from dbstat', [], 'rows') as [number, string][]
  return new Map(rows)
}
