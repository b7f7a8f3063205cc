/**
 * `npm run schema`: writes the tables of `src/store/schema` anew, from the migrations and the annotations
 * beside them.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { readMigrations } from '../src/store/migrate.ts'
import { SCHEMA_FOLDER, writeModules } from './schema/write-modules.ts'

const modules = writeModules(readMigrations())
const files = [...modules].map(([name, text]) => {
  const file = path.join(SCHEMA_FOLDER, name)
  writeFileSync(file, text)
  return file
})
execFileSync('node_modules/.bin/biome', ['check', '--write', ...files], {
  cwd: path.join(import.meta.dirname, '..'),
  stdio: 'inherit',
})
