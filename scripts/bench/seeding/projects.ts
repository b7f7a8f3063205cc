/** Creates the projects of the seeded database with the program itself. */
import path from 'node:path'
import { now } from '../../../src/clock.ts'
import { loadConfig } from '../../../src/config/load.ts'
import { insertProject } from '../../../src/features/accounts/projects/projects.ts'
import { createUser } from '../../../src/features/accounts/users/users.ts'
import { addDomain } from '../../../src/features/domains/add.ts'
import { verifyDomain } from '../../../src/features/domains/verify.ts'
import { openCore } from '../../../src/features/open-core.ts'
import { createLog } from '../../../src/log.ts'
import { type ProjectName, projectPlans } from './plan.ts'

export type ProjectIds = Record<ProjectName, string>

/** Creates the database of a configuration file, with a user and projects that may send. */
export async function makeProjects(
  configFile: string,
): Promise<{ file: string; projects: ProjectIds }> {
  const cwd = path.dirname(configFile)
  const config = loadConfig({ configPath: configFile, env: {}, cwd })
  const core = await openCore(config, { log: createLog('error') })
  try {
    const user = { address: 'bench@example.test', password: 'the password of the benchmark' }
    const { id: ownerId } = await createUser(core, user)
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
