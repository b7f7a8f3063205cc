/** `verify`: checks a backup without restoring it. The command needs no configuration. */
import { closeSync, createReadStream, fstatSync, openSync } from 'node:fs'
import path from 'node:path'
import { AppError, hasCode } from '../base/errors.ts'
import { DUTIES } from '../core/areas.ts'
import {
  type VerifiedBackup,
  verifyBackup,
} from '../features/operation/backup/inspect/verify-backup.ts'
import type { CommandContext, Input, Result } from './engine/command.ts'
import type { Terminal } from './engine/terminal.ts'
import { escapeControls, formatFields } from './engine/text.ts'

export async function verifyCommand(context: CommandContext, input: Input): Promise<Result> {
  const [file = ''] = input.args
  const verified = await verifyBackup(DUTIES, openArchive(context.terminal, file))
  const { manifest, projects, emails, schema, isNewer, opensSecrets } = verified
  const { version, generation, createdAt, hostname, seq, withoutSecret, outside } = manifest
  const counts = { projects, emails, schema, isNewer, opensSecrets }
  const json = { file, version, generation, createdAt, hostname, seq, withoutSecret, outside }
  return { json: { ...json, ...counts }, text: describe(file, verified) }
}

/**
 * Returns the bytes of a backup; `-` is standard input. The file is already open when the function
 * returns, so that root may then become another user.
 * @throws AppError BAD_REQUEST if there is no such file, and for a folder; errors of the file
 * system
 */
export function openArchive({ stdin, cwd }: Terminal, file: string): AsyncIterable<Buffer> {
  if (file === '-') return stdin
  const found = path.resolve(cwd, file)
  return createReadStream(found, { fd: openFile(found), highWaterMark: 1024 * 1024 })
}

function openFile(file: string): number {
  try {
    const opened = openSync(file, 'r')
    if (!fstatSync(opened).isDirectory()) return opened
    closeSync(opened)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
    throw new AppError('BAD_REQUEST', `There is no file ${file}.`)
  }
  throw new AppError('BAD_REQUEST', `${file} is a folder, and no backup.`)
}

function describe(file: string, { manifest, ...facts }: VerifiedBackup): string {
  const { version, generation, createdAt, hostname, seq, outside } = manifest
  const lines = [
    escapeControls(`${file === '-' ? 'The backup' : file} is complete and undamaged.`),
    formatFields({
      made: createdAt,
      by: `Pillarbox ${version} at ${hostname}`,
      generation: String(generation),
      projects: String(facts.projects),
      emails: String(facts.emails),
      'newest event': String(seq),
      secret: facts.opensSecrets ? 'inside; it opens the keys' : 'not inside, and not checked',
    }),
    ...(facts.isNewer
      ? [escapeControls(`This program is too old to restore it: that needs version ${version}.`)]
      : []),
    ...(outside.length > 0 ? ['Not inside:'] : []),
    ...outside.map(({ key, place }) => escapeControls(`  ${key}  ${place}`)),
  ]
  return lines.join('\n')
}
