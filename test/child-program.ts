/** The programs beside the product that tests start as processes of their own: files `*-child.ts`. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { programFile } from './program-file.ts'

/** In the folder of the bundled program. */
export const CHILD_FOLDER = 'children'

/**
 * The file that Node runs for a child, whose place is `test/…/x-child.ts`: its bundle beside the bundled
 * program, if there is one, else the source.
 */
export function childProgram(place: string): string {
  const root = path.join(import.meta.dirname, '..')
  const bundled = path.join(programFile, '../..', CHILD_FOLDER, place.replace(/\.ts$/, '.mjs'))
  return existsSync(bundled) ? bundled : path.join(root, place)
}
