import { z } from "zod";

export const priorityShape = z.string();
