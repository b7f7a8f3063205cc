/** Creates the projects of the seeded database with the program itself. */
import path from 'node:path'
import { now } from '../../../src/base/clock.ts'
import { createLog } from '../../../src/base/log.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { openCore } from '../../../src/core/open-core.ts'
import { addDomain } from '../../../src/features/mail/domains/domains.ts'
import { verifyDomain } from '../../../src/features/mail/domains/verify.ts'
import { insertProject } from '../../../src/features/tenancy/accounts/projects/projects.ts'
import { createUser } from '../../../src/features/tenancy/accounts/users/users.ts'
import { type ProjectName, projectPlans } from './plan.ts'

/** The owner of the projects. */
export const OWNER = { address: 'bench@example.test', password: 'the password of the benchmark' }

export type ProjectIds = Record<ProjectName, string>

/** Creates the database of a configuration file, with a user and projects that may send. */
export async function makeProjects(
  configFile: string,
): Promise<{ file: string; projects: ProjectIds }> {
  const cwd = path.dirname(configFile)
  const config = loadConfig({ configPath: configFile, env: {}, cwd })
  const core = await openCore(config, { log: createLog('error') })
  try {
    const { id: ownerId } = await createUser(core, OWNER)
    const projects: ProjectIds = { big: '', first: '', second: '', small: '' }
    for (const { name, domain, keys } of projectPlans) {
      const project = { name, ownerId, keys, areKeysSandbox: false, at: now() }
      const projectId = await core.store.write((tx) => insertProject(tx, project))
      await addDomain(core, { projectId, domain })
      await verifyDomain(core, { projectId, domain }, { trust: true })
      projects[name] = projectId
    }
    return { file: config.database.file, projects }
  } finally {
    await core.close()
  }
}
