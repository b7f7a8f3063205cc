/** Tasks that wait for the look-up of their destination, one look-up for all tasks of a domain. */
import type { Now } from '../../base/clock.ts'
import { describeError } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { DeliveryTask } from '../delivery.ts'
import type { Destination } from './destination.ts'
import type { Destinations } from './destinations.ts'

type ResolvingDeps = {
  destinations: Pick<Destinations, 'resolve'>
  log: Log
  now: Now
  resolved(tasks: readonly DeliveryTask[], destination: Destination): void
  /** The look-up failed by a fault of this program. */
  failed(tasks: readonly DeliveryTask[]): void
}

type Resolving = {
  /** Resolves the domain of the tasks, then calls `resolved` or `failed`. */
  add(domain: string, tasks: readonly DeliveryTask[]): void
  /** The task of an email, and since when (epoch ms) it waits. */
  find(emailId: string): { task: DeliveryTask; since: number } | undefined
  /** How many domains are looked up for tasks of a project and class. */
  count(owner: Pick<DeliveryTask, 'projectId' | 'queueClass'>): number
  /** Returns the tasks that match; neither `resolved` nor `failed` is called for them. */
  take(test: (task: DeliveryTask) => boolean): DeliveryTask[]
}

type TaskGroup = { tasks: readonly DeliveryTask[]; since: number }

export function createResolving(deps: ResolvingDeps): Resolving {
  const groups = new Set<TaskGroup>()
  return {
    add(domain, tasks) {
      const group: TaskGroup = { tasks, since: deps.now() }
      groups.add(group)
      deps.destinations.resolve(domain).then(
        (destination) => {
          if (groups.delete(group)) deps.resolved(group.tasks, destination)
        },
        (error: unknown) => {
          const facts = { domain, error: describeError(error) }
          deps.log.error(facts, 'a destination could not be resolved')
          if (groups.delete(group)) deps.failed(group.tasks)
        },
      )
    },
    find(emailId) {
      for (const { tasks, since } of groups) {
        const task = tasks.find((one) => one.emailId === emailId)
        if (task !== undefined) return { task, since }
      }
      return undefined
    },
    count({ projectId, queueClass }) {
      const domains = new Set<string>()
      for (const { tasks } of groups)
        for (const task of tasks)
          if (task.projectId === projectId && task.queueClass === queueClass)
            domains.add(task.domain)
      return domains.size
    },
    take(test) {
      const taken: DeliveryTask[] = []
      for (const group of groups) {
        taken.push(...group.tasks.filter(test))
        group.tasks = group.tasks.filter((task) => !test(task))
        if (group.tasks.length === 0) groups.delete(group)
      }
      return taken
    },
  }
}
