/** Finds the Node for an executable: the installed one for this machine, a downloaded one for others. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rename, rm } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { nodeVersion, type Target } from '../build.config.ts'

const run = promisify(execFile)

/** Returns the path of the runtime. A download must match the integrity in package-lock.json. */
export async function findBaseNode(target: Target, cacheFolder: string): Promise<string> {
  const installed = path.resolve('node_modules', target.nodePackage, target.nodeFile)
  if (existsSync(installed)) return installed
  const folder = path.resolve(cacheFolder, `${target.nodePackage}-${nodeVersion}`)
  const file = path.join(folder, 'package', target.nodeFile)
  if (!existsSync(file)) await fetchPackage(target, folder)
  return file
}

/** Unpacks the package into `folder`, which appears only when it is complete. */
async function fetchPackage({ nodePackage }: Target, folder: string): Promise<void> {
  const fresh = `${folder}.${process.pid}`
  await mkdir(fresh, { recursive: true })
  const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const shell = process.platform === 'win32'
  const spec = `${nodePackage}@${nodeVersion}`
  const { stdout } = await run(npm, ['pack', spec, '--silent'], { cwd: fresh, shell })
  const archive = path.join(fresh, stdout.trim())
  await checkIntegrity(nodePackage, archive)
  await run('tar', ['-xzf', archive, '-C', fresh])
  await rm(archive)
  await rename(fresh, folder)
}

async function checkIntegrity(nodePackage: string, archive: string): Promise<void> {
  const lock = JSON.parse(await readFile('package-lock.json', 'utf8'))
  const expected = lock.packages[`node_modules/${nodePackage}`].integrity
  const digest = createHash('sha512').update(await readFile(archive))
  if (`sha512-${digest.digest('base64')}` === expected) return
  throw new Error(`${nodePackage}@${nodeVersion} does not match package-lock.json`)
}
