/** Connections that requests of supertest share: a new one for each costs as much as a request itself. */
import { Agent, type ClientRequest } from 'node:http'
import supertest from 'supertest'

type Sender = supertest.Test & { request(): ClientRequest }

const agent = new Agent({ keepAlive: true })
const sender = supertest.Test.prototype as Sender
const { request } = sender

/** For all requests of the process, except those that have an agent of their own. */
sender.request = function (this: Sender) {
  if (Object(this)._agent === false) this.agent(agent)
  return request.call(this)
}
