/**
 * Keeps root from making folders for another user among those that root and the system trust. The
 * configuration belongs to that user and may name such a folder. As its owner, the user could place
 * programs in root's PATH, or units that run as root.
 */
import { realpathSync } from 'node:fs'
import path from 'node:path'
import { AppError } from '../../base/errors.ts'
import { statOf, userArgument } from '../../config/file-access.ts'
import { quoteWord } from '../../config/shell-word.ts'

const TOPS = new Set(['etc', 'usr', 'bin', 'sbin', 'boot', 'dev', 'proc', 'sys', 'run', 'root'])

/** The folder for temporary files of all users, in memory. */
const MEMORY = '/dev/shm/'

/**
 * Refuses to create `folder` for the user with this uid, or to give it away, if it is a folder of
 * the system. `root`: the folder that the service sees as `/`. Without a uid, the user does not
 * exist yet.
 * @throws AppError FORBIDDEN
 */
export function refuseSystemFolder(folder: string, uid: number | undefined, root = '/'): void {
  const real = path.join(
    '/',
    path.relative(realpathSync(root), resolveLinks(path.join(root, folder))),
  )
  const top = real.split('/')[1] ?? ''
  if (real.startsWith(MEMORY)) return
  if (!TOPS.has(top) && !top.startsWith('lib')) return
  const text = `${folder} is in /${top}, which has files of the system: root creates no folder there for another user, and gives none away.`
  const place = quoteWord(path.join(root, folder))
  const suggestion =
    uid === undefined
      ? `If you want it there, create it yourself: install -d -m 700 ${place}. Give it to the user of the service after the installation.`
      : `If you want it there, create it yourself: install -d -o ${userArgument(uid)} -m 700 ${place}`
  throw new AppError('FORBIDDEN', text, { suggestion })
}

/** Resolves the links in the part of the path that exists. */
function resolveLinks(folder: string): string {
  if (statOf(folder) !== undefined) return realpathSync(folder)
  const parent = path.dirname(folder)
  return parent === folder ? folder : path.join(resolveLinks(parent), path.basename(folder))
}
