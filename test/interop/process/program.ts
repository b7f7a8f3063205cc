/** The program that an operator would have: the built executable, else the sources. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { outputFolder, targets } from '../../../build.config.ts'

const ROOT = path.join(import.meta.dirname, '../../..')

/** The command, without arguments. */
export function findProgram(): string[] {
  const target = targets.find(({ name }) => name === `${process.platform}-${process.arch}`)
  const built = path.join(ROOT, outputFolder, target?.output ?? 'none')
  return existsSync(built) ? [built] : [process.execPath, path.join(ROOT, 'src/main.ts')]
}
