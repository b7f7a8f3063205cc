/** `version`: the versions of Pillarbox and of Node.js. */
import { productVersion } from '../config/version.ts'
import type { Result } from './engine/command.ts'

export async function versionCommand(): Promise<Result> {
  const json = { version: productVersion(), node: process.versions.node }
  return { json, text: `pillarbox ${json.version} (Node.js ${json.node})` }
}
