import type { Judge } from '../protocol/world.ts'

/** Nobody watches. */
export const NOBODY: Judge = {
  complaint: undefined,
  unfinished: () => '',
  committed() {},
  led() {},
  effects() {},
  serverFailed() {},
  accepted() {},
  killed() {},
  held() {},
  released() {},
  faulty() {},
  mended() {},
  wrote() {},
  wiped() {},
  nodeFailed() {},
  started() {},
  ended() {},
  claimed() {},
  see() {},
  wrong() {},
  dialled() {},
  frame() {},
  arrived() {}
}
