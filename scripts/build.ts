/**
 * `npm run build` makes `dist/pillarbox-linux-x64`, `npm run build -- --all` every target of build.config.ts.
 * Executables of the build before are removed.
 */
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { defaultTarget, outputFolder, targets } from '../build.config.ts'
import { buildExecutables } from './executable/build-executables.ts'

process.chdir(path.join(import.meta.dirname, '..'))
const wanted = process.argv.includes('--all')
  ? targets
  : targets.filter(({ name }) => name === defaultTarget)
for (const { output } of targets) await rm(path.join(outputFolder, output), { force: true })
await buildExecutables(wanted, outputFolder)
