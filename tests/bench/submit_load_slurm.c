/* What submit_load does, through libslurm; beside_slurm compiles it where Slurm's headers are installed.
 *   submit_load_slurm [-n JOBS] [-p PROCESSES] [-H] [-w NODE] [-s SCRIPT-BODY] */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int held;
static char *node, *body = "true";

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec * 1e-9;
}

static int submit(int jobs) {
    char script[4096], *environment[] = {"PATH=/usr/bin:/bin", "HOME=/tmp", NULL};
    int failed = 0;
    snprintf(script, sizeof script, "#!/bin/sh\n%s\n", body);
    for (int i = 0; i < jobs; i++) {
        job_desc_msg_t job;
        submit_response_msg_t *reply = NULL;
        slurm_init_job_desc_msg(&job);
        job.name = "bench";
        job.script = script;
        job.environment = environment;
        job.env_size = 2;
        job.user_id = getuid();
        job.group_id = getgid();
        job.work_dir = "/tmp";
        job.std_in = job.std_out = job.std_err = "/dev/null";
        job.num_tasks = job.min_cpus = 1;
        job.time_limit = 60;
        job.req_nodes = node;
        if (held) job.priority = 0;
        if (slurm_submit_batch_job(&job, &reply) != 0) {
            if (failed++ == 0) slurm_perror("slurm_submit_batch_job");
            continue;
        }
        slurm_free_submit_response_response_msg(reply);
    }
    return failed;
}

int main(int argc, char **argv) {
    int jobs = 1000, processes = 1, failed = 0, status = 0;
    for (int option; (option = getopt(argc, argv, "n:p:Hw:s:")) != -1;) switch (option) {
        case 'n': jobs = atoi(optarg); break;
        case 'p': processes = atoi(optarg); break;
        case 'H': held = 1; break;
        case 'w': node = optarg; break;
        case 's': body = optarg; break;
        default: return 2;
        }
    slurm_init(NULL);
    const double began = now();
    for (int i = 0; i < processes; i++)
        if (fork() == 0) _exit(submit(jobs / processes + (i < jobs % processes)) == 0 ? 0 : 1);
    while (wait(&status) > 0) failed |= status;
    const double took = now() - began;
    printf("seconds=%.4f submits_per_s=%.1f\n", took, jobs / took);
    return failed != 0;
}
