/**
 * `npm test`: types and lint, then every test outside `test/interop`.
 * `npm run test:interop`: `test/interop` only, against other people's software.
 * `npm test -- FILE…`: these test files only. Passing tests are counted, the rest is shown.
 */
import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { run } from 'node:test'
import { report } from './test-report.ts'

/** For one file; the crash and queue tests of `interop` are the longest. */
const timeoutMs = 300_000

process.chdir(path.join(import.meta.dirname, '..'))
process.exitCode = (await runAll(process.argv.slice(2))) ? 0 : 1

async function runAll(argv: string[]): Promise<boolean> {
  if (argv[0] === 'interop') return runTests(globSync('test/interop/**/*.test.ts'), 1)
  const inParallel = os.availableParallelism()
  if (argv.length > 0) return runTests(argv, inParallel)
  const checks = await Promise.all([
    check('tsc', ['--noEmit']),
    check('biome', ['check', '--error-on-warnings', '.']),
  ])
  if (checks.includes(false)) return false
  const files = globSync('test/**/*.test.ts', { exclude: ['test/interop/**'] })
  return runTests(files, inParallel)
}

/** Runs a tool of node_modules/.bin and shows what it has to say. */
function check(tool: string, argv: string[]): Promise<boolean> {
  const startedAt = performance.now()
  const shell = process.platform === 'win32'
  const child = spawn(path.join('node_modules', '.bin', tool), argv, { stdio: 'inherit', shell })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (status) => {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
      console.log(`${status === 0 ? '✔' : '✖'} ${tool} ${argv.join(' ')} (${seconds} s)`)
      resolve(status === 0)
    })
  })
}

async function runTests(files: string[], concurrency: number): Promise<boolean> {
  if (files.length === 0) {
    console.log('✖ no test files')
    return false
  }
  forgetSettings()
  return report(run({ files: files.sort(), concurrency, timeout: timeoutMs }))
}

/** An operator's environment must not reach the tests. */
function forgetSettings(): void {
  for (const name of Object.keys(process.env)) {
    if (name.startsWith('PILLARBOX_')) delete process.env[name]
  }
}
